import type { Nodes, Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/** Longer texts are shown as they are: a tree of them would slow the page down. */
export const longestMarkdown = 50_000;
/** The most levels of a tree, and of what one line opens; each level costs the stack and the layout. */
const mostLevels = 50;
/** The most signs in one block that may open or close something: the parser compares them with each other. */
const mostSigns = 1_000;
const signs = /[*_~[<]/g;

/** Finds paragraphs and code blocks, and nothing within them: the time grows with the length only. */
const blocksOnly = {
  disable: {
    null: [
      'attention',
      'autolink',
      'codeText',
      'htmlText',
      'labelStartImage',
      'labelStartLink',
      'labelEnd',
      'strikethrough',
      'gfmFootnoteCall',
      'gfmPotentialFootnoteCall',
      'wwwAutolink',
      'protocolAutolink',
      'emailAutolink',
    ],
  },
};

/** Parses Markdown; undefined for what would take the page too long, or too deep. */
export function parseMarkdown(text: string): Root | undefined {
  if (text.length > longestMarkdown || opensTooMuch(text)) return undefined;
  try {
    if (mayHaveManySigns(text) && hasManySigns(text, parse(text, blocksOnly))) return undefined;
    const root = parse(text);
    return isDeep(root) ? undefined : root;
  } catch {
    return undefined;
  }
}

const parse = (text: string, ...limits: (typeof blocksOnly)[]): Root =>
  fromMarkdown(text, { extensions: [gfm(), ...limits], mdastExtensions: [gfmFromMarkdown()] });

/** Whether a line opens too many levels. */
const opensTooMuch = (text: string): boolean =>
  text.split('\n').some((line) => {
    const [opening = ''] = /^(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*/.exec(line) ?? [];
    return (opening.match(/[>)+*.-]/g)?.length ?? 0) > mostLevels;
  });

const countSigns = (text: string): number => text.match(signs)?.length ?? 0;

/** Whether lines without an empty one between have too many signs: a quick answer for most texts. */
const mayHaveManySigns = (text: string): boolean =>
  text.split(/\n[ \t\r]*\n/).some((part) => countSigns(part) > mostSigns);

/** Whether a block that is no code has too many signs. */
function hasManySigns(text: string, node: Nodes): boolean {
  if (node.type === 'paragraph' || node.type === 'heading' || node.type === 'table') {
    const { start, end } = node.position ?? {};
    return countSigns(text.slice(start?.offset, end?.offset)) > mostSigns;
  }
  return 'children' in node && node.children.some((child) => hasManySigns(text, child));
}

function isDeep(root: Root): boolean {
  let level: Nodes[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > mostLevels) return true;
    level = level.flatMap((node) => ('children' in node ? node.children : []));
  }
  return false;
}

const allowed = new Set(['http:', 'https:', 'mailto:']);

/** The address of a link that others wrote, if it leads to a web page or a mailbox; undefined for all others. */
export function safeAddress(url: string): string | undefined {
  // A relative address would lead to a page of this service.
  if (!URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  return allowed.has(protocol) ? href : undefined;
}
