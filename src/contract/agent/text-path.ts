import * as z from 'zod';

type Step =
  | { kind: 'name'; name: string }
  /** An element of a list, from the end if negative. */
  | { kind: 'index'; index: number }
  /** Each element of a list, or each member of an object. */
  | { kind: 'all' }
  | { kind: 'each-of'; paths: TextPath[] };

/** The steps from a value to the texts in it; none for the whole value. */
export type TextPath = readonly Step[];

/** The path of a whole value. */
export const wholeValue = '$';

/** The most characters of a path, and the most paths of an item. */
const maxPathLength = 200;
const maxPaths = 100;

/** Parses a path, as `$`, `a.b`, `items[*].text`, `items[-1]`, `*.text`, `{title,meta.tags}`; else undefined. */
export function readTextPath(text: string): TextPath | undefined {
  const path = text.startsWith('$.') ? text.slice(2) : text.replace(/^\$(?=\[|$)/, '');
  if (path === '') return text === wholeValue ? [] : undefined;
  return text.length > maxPathLength ? undefined : stepsOf(path);
}

function stepsOf(path: string): TextPath | undefined {
  const steps: Step[] = [];
  const next = /\.?(?:(?<name>[^.[\]{}]+)|\[(?<index>\*|-?\d{1,9})\]|\{(?<paths>[^{}]+)\})/y;
  while (next.lastIndex < path.length) {
    const { name, index, paths } = next.exec(path)?.groups ?? {};
    if (name === '*' || index === '*') steps.push({ kind: 'all' });
    else if (name !== undefined) steps.push({ kind: 'name', name });
    else if (index !== undefined) steps.push({ kind: 'index', index: Number(index) });
    else {
      // Only one group is allowed, because the combinations of several would multiply.
      if (steps.some(({ kind }) => kind === 'each-of')) return undefined;
      const read = paths?.split(',').map((each) => (each.trim() === '' ? undefined : stepsOf(each.trim()))) ?? [];
      const parsedPaths = read.filter((each) => each !== undefined);
      if (parsedPaths.length === 0 || parsedPaths.length < read.length) return undefined;
      steps.push({ kind: 'each-of', paths: parsedPaths });
    }
  }
  return steps;
}

/** The paths of the texts that the store embeds. */
export const textPaths = z
  .array(
    z.string().refine((text) => readTextPath(text) !== undefined, {
      error: `must be a path in the value, such as \`$\`, \`a.b\`, \`items[*].text\` or \`items[-1]\`, of at most ${maxPathLength} characters with one {}`,
    }),
  )
  .max(maxPaths);
