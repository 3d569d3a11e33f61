import type { Element, ElementContent, Root as HtmlRoot, RootContent as HtmlContent } from 'hast';
import { toHtml } from 'hast-util-to-html';
import type { Code, Heading, Html, Image, Link, Root, RootContent, Table } from 'mdast';
import { toHast, type Handlers } from 'mdast-util-to-hast';
import { dirname, join, relative } from 'node:path/posix';
import { highlight } from './highlight.mjs';
import { anchorsIn, isCodeGroupHeading, textOf, type Page } from './page.ts';

/** A rendered page, and the files of the repository that it shows. */
export interface RenderedPage {
  html: string;
  /** The images, by their address in the guide. */
  images: ReadonlyMap<string, string>;
}

/** The page's Markdown as HTML: headings with anchors, coloured code, tabs of examples, links between pages. */
export function renderPage(page: Page, pages: ReadonlyMap<string, Page>): RenderedPage {
  const images = new Map<string, string>();
  const anchors = anchorsIn(page.tree);
  const resolve = (address: string): string => join(dirname(page.file), address);
  const fromPage = (url: string): string => relative(dirname(page.url), url) || '.';

  /** The address of a link in the guide; undefined where it leads to a file that the guide lacks. */
  const linkTo = (address: string): string | undefined => {
    if (/^(?:[a-z]+:|#)/i.test(address)) return address;
    const [path = '', anchor] = address.split('#');
    const target = pages.get(resolve(path));
    return target && `${fromPage(target.url)}${anchor === undefined ? '' : `#${anchor}`}`;
  };
  const imageAt = (address: string): string => {
    const url = resolve(address).replace(/^docs\//, '');
    images.set(url, resolve(address));
    return fromPage(url);
  };

  const handlers: Handlers = {
    code: (_, node: Code) => codeBlock(node),
    heading: (state, node: Heading) => {
      const anchor = anchors.get(node);
      const children = state.all(node);
      if (node.depth === 1 || anchor === undefined) return element(`h${node.depth}`, {}, children);
      const link = element('a', { class: 'anchor', href: `#${anchor}`, 'aria-label': `Link to ${textOf(node)}` }, [
        text('#'),
      ]);
      return element(`h${node.depth}`, { id: anchor }, [...children, text(' '), link]);
    },
    // Comments mark the generated parts of pages; the only other HTML are images.
    html: (_, node: Html) => {
      const [, source, alt = '', width] = /^<img src="([^"]+)" alt="([^"]*)" width="(\d+)">$/.exec(node.value) ?? [];
      return source === undefined
        ? undefined
        : element('img', { src: imageAt(source), alt, width, loading: 'lazy' }, []);
    },
    image: (_, node: Image) => element('img', { src: imageAt(node.url), alt: node.alt ?? '', loading: 'lazy' }, []),
    link: (state, node: Link) => {
      const href = linkTo(node.url);
      const named = pages.get(resolve(node.url));
      // On GitHub a link shows the name of the file, which readers of the guide don't see.
      const children = named && textOf(node).endsWith('.md') ? [text(named.label)] : state.all(node);
      if (href === undefined) return element('span', {}, children);
      const isForeign = /^https?:/.test(href);
      return element('a', { href, ...(isForeign ? { rel: 'noreferrer' } : {}) }, children);
    },
    table: (state, node: Table) => {
      const [head, ...rows] = node.children.map((row, at) =>
        element(
          'tr',
          {},
          row.children.map((cell) => element(at === 0 ? 'th' : 'td', {}, state.all(cell))),
        ),
      );
      return element('div', { class: 'table', tabindex: 0 }, [
        element('table', {}, [element('thead', {}, head ? [head] : []), element('tbody', {}, rows)]),
      ]);
    },
  };
  const html = (nodes: RootContent[]): ElementContent[] => {
    const tree = toHast({ type: 'root', children: nodes } satisfies Root, { handlers });
    return 'children' in tree ? inElement(tree.children) : [];
  };
  const children = partsOf(page.tree).flatMap((part) =>
    part.kind === 'blocks' ? html(part.nodes) : [codeGroup(part.examples, html)],
  );
  return { html: toHtml({ type: 'root', children } satisfies HtmlRoot), images };
}

interface Example {
  name: string;
  nodes: RootContent[];
}

type Part = { kind: 'blocks'; nodes: RootContent[] } | { kind: 'examples'; examples: Example[] };

/** Separates the groups of examples from the other blocks. A group ends with the code block of its last example. */
function partsOf({ children }: Root): Part[] {
  const parts: Part[] = [];
  for (const node of children) {
    const last = parts.at(-1);
    const example = last?.kind === 'examples' ? last.examples.at(-1) : undefined;
    const isComplete = example === undefined || example.nodes.some(({ type }) => type === 'code');
    if (isCodeGroupHeading(node)) {
      const next = { name: textOf(node), nodes: [] };
      if (last?.kind === 'examples') last.examples.push(next);
      else parts.push({ kind: 'examples', examples: [next] });
    } else if (example && !isComplete) example.nodes.push(node);
    else if (last?.kind === 'blocks') last.nodes.push(node);
    else parts.push({ kind: 'blocks', nodes: [node] });
  }
  return parts;
}

/** Without scripts the examples follow one another under their names; the page's script makes tabs of them. */
const codeGroup = (examples: readonly Example[], html: (nodes: RootContent[]) => ElementContent[]): Element =>
  element(
    'div',
    { class: 'examples' },
    examples.map(({ name, nodes }) =>
      element('section', { 'data-name': name }, [element('p', { class: 'name' }, [text(name)]), ...html(nodes)]),
    ),
  );

function codeBlock({ lang, value }: Code): Element {
  // Most examples are commands and name no language; drawings are not coloured.
  const isDrawing = /[─│┌▶]/.test(value);
  const language = lang ?? (isDrawing ? undefined : 'bash');
  const coloured = language === undefined ? undefined : highlight(language, value);
  const content = coloured ? inElement(coloured.children) : [text(value)];
  return element('div', { class: 'code' }, [
    element('pre', { tabindex: 0 }, [element('code', isDrawing ? { class: 'drawing' } : {}, content)]),
  ]);
}

const inElement = (children: readonly HtmlContent[]): ElementContent[] =>
  children.filter((child) => child.type !== 'doctype');

const text = (value: string): ElementContent => ({ type: 'text', value });

const element = (
  tagName: string,
  properties: Record<string, string | number | undefined>,
  children: ElementContent[],
): Element => ({ type: 'element', tagName, properties, children });
