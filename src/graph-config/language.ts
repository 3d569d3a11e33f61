import type { GraphPlace } from './graph-path.ts';

/** The language of a graph, by its file's extension. */
export type GraphLanguage = 'javascript' | 'typescript' | 'python' | 'unknown';

const endings: ReadonlyMap<string, GraphLanguage> = new Map([
  ['js', 'javascript'],
  ['mjs', 'javascript'],
  ['cjs', 'javascript'],
  ['jsx', 'javascript'],
  ['ts', 'typescript'],
  ['mts', 'typescript'],
  ['cts', 'typescript'],
  ['tsx', 'typescript'],
  ['py', 'python'],
]);

/** The language of a graph's file. A path without an ending, such as a Python module's dotted name, is `unknown`. */
export function graphLanguage(file: string): GraphLanguage {
  const name = file.split(/[\\/]/).at(-1) ?? '';
  const ending = name.includes('.') ? name.split('.').at(-1) : undefined;
  return endings.get(ending?.toLowerCase() ?? '') ?? 'unknown';
}

/** What this machine can run, or the sentence that says why it can't. */
export type Runnable = { kind: 'runnable' } | { kind: 'refused'; graphId: string; reason: string };

/** Whether this machine can run the graphs: it runs JavaScript and TypeScript, by Node.js. The first that it can't decides. */
export function runnableHere(places: readonly GraphPlace[]): Runnable {
  for (const { graphId, file } of places) {
    const language = graphLanguage(file);
    if (language === 'python') {
      const reason = `Graph "${graphId}" is written in Python (${file}). This machine runs graphs in JavaScript and TypeScript only.`;
      return { kind: 'refused', graphId, reason };
    }
    if (language === 'unknown') {
      const reason = `Graph "${graphId}" lies in ${file}, whose ending says no language. This machine runs .ts, .mts, .cts, .js, .mjs and .cjs files.`;
      return { kind: 'refused', graphId, reason };
    }
  }
  return { kind: 'runnable' };
}
