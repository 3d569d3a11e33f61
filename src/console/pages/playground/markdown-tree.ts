import type { Nodes, Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';

/** Longer texts are shown without formatting, since their tree would slow the page down. */
export const maxMarkdownLength = 50_000;
/** Limit for the depth of a tree and for the levels that one line opens: each costs stack and layout. */
const maxLevels = 50;
/** Limit for the delimiters in one block, since the parser compares each with the others. */
const maxSignsPerBlock = 1_000;
const signs = /[*_~[<]/g;

/** Finds only paragraphs and code blocks, so that the time is linear in the length. */
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

/** Parses Markdown; undefined if that would take too long or the tree would be too deep. */
export function parseMarkdown(text: string): Root | undefined {
  if (text.length > maxMarkdownLength || opensTooMuch(text)) return undefined;
  try {
    if (mayHaveTooManySigns(text) && hasTooManySigns(text, parse(text, blocksOnly))) return undefined;
    const root = parse(text);
    return isTooDeep(root) ? undefined : root;
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
    return (opening.match(/[>)+*.-]/g)?.length ?? 0) > maxLevels;
  });

const countSigns = (text: string): number => text.match(signs)?.length ?? 0;

/** Whether consecutive non-empty lines have too many signs: a quick check that most texts pass. */
const mayHaveTooManySigns = (text: string): boolean =>
  text.split(/\n[ \t\r]*\n/).some((part) => countSigns(part) > maxSignsPerBlock);

/** Whether a block other than code has too many signs. */
function hasTooManySigns(text: string, node: Nodes): boolean {
  if (node.type === 'paragraph' || node.type === 'heading' || node.type === 'table') {
    const { start, end } = node.position ?? {};
    return countSigns(text.slice(start?.offset, end?.offset)) > maxSignsPerBlock;
  }
  return 'children' in node && node.children.some((child) => hasTooManySigns(text, child));
}

function isTooDeep(root: Root): boolean {
  let level: Nodes[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxLevels) return true;
    level = level.flatMap((node) => ('children' in node ? node.children : []));
  }
  return false;
}

const allowedProtocols = new Set(['http:', 'https:', 'mailto:']);

/** The URL of an untrusted link if it leads to a web page or a mailbox; undefined for all others. */
export function safeUrl(url: string): string | undefined {
  // A relative URL would lead to a page of this service.
  if (!URL.canParse(url)) return undefined;
  const { protocol, href } = new URL(url);
  return allowedProtocols.has(protocol) ? href : undefined;
}
