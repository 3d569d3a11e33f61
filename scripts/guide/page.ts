import type { Heading, Nodes, Root, RootContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/** A page of the guide before it is rendered. */
export interface Page {
  /** Its file in the repository, by which other pages link to it. */
  file: string;
  /** Its address, relative to the start of the guide. */
  url: string;
  /** Its name in the navigation. */
  label: string;
  title: string;
  /** The first paragraph. */
  summary: string;
  markdown: string;
  tree: Root;
  sections: readonly Section[];
}

/** A heading and what follows it, up to the next one. */
export interface Section {
  /** 1 for the page's title. */
  depth: number;
  title: string;
  /** Empty for the page's title. */
  anchor: string;
  text: string;
}

/** Examples of the same request: consecutive headings with one of these names become tabs. */
const codeGroupNames: ReadonlySet<string> = new Set(['curl', 'Python', 'JavaScript']);

export function readPage(file: string, label: string, markdown: string): Page {
  const tree = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  const sections = sectionsOf(tree);
  const summary = tree.children.find(({ type }) => type === 'paragraph');
  return {
    file,
    url: urlOf(file),
    label,
    title: sections[0]?.title ?? label,
    summary: summary === undefined ? '' : plainText(summary),
    markdown,
    tree,
    sections,
  };
}

/** `docs/design/README.md` is at `design/index.html`, `SECURITY.md` at `security.html`, `README.md` at `index.html`. */
function urlOf(file: string): string {
  const path = file.replace(/^docs\//, '').replace(/\.md$/, '');
  return `${path.replace(/(^|\/)README$/, '$1index').toLowerCase()}.html`;
}

export const isCodeGroupHeading = (node: RootContent): boolean =>
  node.type === 'heading' && codeGroupNames.has(textOf(node));

/** The anchors of a page's headings, as GitHub makes them: `-1` follows the second of the same title. */
export function anchorsIn(tree: Root): ReadonlyMap<Heading, string> {
  const anchors = new Map<Heading, string>();
  const counts = new Map<string, number>();
  for (const node of tree.children) {
    if (node.type !== 'heading') continue;
    const slug = slugOf(textOf(node));
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    anchors.set(node, count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

function sectionsOf(tree: Root): Section[] {
  const anchors = anchorsIn(tree);
  const sections: Section[] = [];
  for (const node of tree.children) {
    if (isCodeGroupHeading(node)) continue;
    if (node.type === 'heading')
      sections.push({
        depth: node.depth,
        title: textOf(node),
        anchor: node.depth === 1 ? '' : (anchors.get(node) ?? ''),
        text: '',
      });
    else {
      const section = sections.at(-1);
      if (section) section.text = `${section.text} ${plainText(node)}`.trim();
    }
  }
  return sections;
}

/** The words of a node as they are read, without the marks. */
export function textOf(node: Nodes): string {
  if ('children' in node) return node.children.map(textOf).join('');
  return 'value' in node && node.type !== 'html' ? node.value : '';
}

/** The words of a block, with a space between those of its parts: cells, items, paragraphs. */
function plainText(node: Nodes): string {
  const hasParts = 'children' in node && !['paragraph', 'heading', 'tableCell'].includes(node.type);
  const text = hasParts ? node.children.map(plainText).join(' ') : textOf(node);
  return text.replaceAll(/\s+/g, ' ').trim();
}
