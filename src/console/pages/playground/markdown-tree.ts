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

/** Parses Markdown; undefined for what would take the page too long, or too deep. */
export function parseMarkdown(text: string): Root | undefined {
  if (text.length > longestMarkdown || isTangled(text)) return undefined;
  try {
    const root = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
    return isDeep(root) ? undefined : root;
  } catch {
    return undefined;
  }
}

function isTangled(text: string): boolean {
  let signs = 0;
  for (const line of text.split('\n')) {
    const [opening = ''] = /^(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*/.exec(line) ?? [];
    const opened = opening.match(/[>)+*.-]/g)?.length ?? 0;
    signs = line.trim() === '' ? 0 : signs + (line.match(/[*_~[<]/g)?.length ?? 0);
    if (opened > mostLevels || signs > mostSigns) return true;
  }
  return false;
}

function isDeep(root: Root): boolean {
  let level: Nodes[] = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > mostLevels) return true;
    level = level.flatMap((node) => ('children' in node ? node.children : []));
  }
  return false;
}
