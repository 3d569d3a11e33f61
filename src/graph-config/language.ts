import type { GraphLocation } from './graph-path.ts';

/** The language of a graph's file, by its extension. A Python module's dotted name is `unknown`. */
export function graphLanguage(file: string): 'javascript' | 'typescript' | 'python' | 'unknown' {
  if (/\.([cm]?js|jsx)$/i.test(file)) return 'javascript';
  if (/\.([cm]?ts|tsx)$/i.test(file)) return 'typescript';
  return /\.py$/i.test(file) ? 'python' : 'unknown';
}

/** What this machine can run, or the sentence that says why it can't. */
export type Runnable = { kind: 'runnable' } | { kind: 'refused'; graphId: string; reason: string };

/**
 * Whether this machine can run the graphs: it runs JavaScript and TypeScript, by Node.js. The first that it can't
 * decides.
 */
export function runnableHere(places: readonly GraphLocation[]): Runnable {
  for (const { graphId, file } of places) {
    const language = graphLanguage(file);
    if (language === 'javascript' || language === 'typescript') continue;
    const reason =
      language === 'python'
        ? `Graph "${graphId}" is written in Python (${file}). This machine runs graphs in JavaScript and TypeScript only.`
        : `Graph "${graphId}" lies in ${file}, whose ending says no language. This machine runs .ts, .mts, .cts, .js, .mjs and .cjs files.`;
    return { kind: 'refused', graphId, reason };
  }
  return { kind: 'runnable' };
}
