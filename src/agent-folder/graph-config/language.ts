import { splitExportPath } from './export-path.ts';
import { graphLocations, type GraphLocation } from './graph-path.ts';
import type { GraphConfig } from './schema.ts';

/** A module of Python by its dotted name, such as `agents.support`. */
const moduleName = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;

/** The language of a graph's file, by its extension. What has none and is a dotted name is a module of Python. */
export function graphLanguage(file: string): 'javascript' | 'typescript' | 'python' | 'unknown' {
  if (/\.([cm]?js|jsx)$/i.test(file)) return 'javascript';
  if (/\.([cm]?ts|tsx)$/i.test(file)) return 'typescript';
  return /\.py$/i.test(file) || moduleName.test(file) ? 'python' : 'unknown';
}

/** Whether a file, or a module, is in Python. */
export const isInPython = (file: string): boolean => graphLanguage(file) === 'python';

/** Whether a path of the configuration is a module of Python by its name, and no file. */
export const isModuleName = (path: string): boolean => moduleName.test(path) && !/\.(?:py|[cm]?[jt]sx?)$/i.test(path);

/** What `embed` names. */
export type Embedder = { kind: 'export'; file: string } | { kind: 'model'; provider: string; model: string };

/** Whether `embed` names an export, by the extension of the file or the beginning of its path, or a model. */
export function embedderOf(embed: string): Embedder {
  const { file } = splitExportPath(embed);
  if ((graphLanguage(file) !== 'unknown' && !isModuleName(file)) || /^[./\\]/.test(file))
    return { kind: 'export', file };
  const [provider = ''] = embed.split(':', 1);
  return { kind: 'model', provider, model: embed.slice(provider.length + 1) };
}

type NamedCode = Pick<GraphConfig, 'graphs' | 'http' | 'auth' | 'store'>;

/** Whose packages an agent needs, by what its configuration names of its code. */
export function packagesNeeded(config: NamedCode & Pick<GraphConfig, 'ui'>): { node: boolean; python: boolean } {
  const hasUi = Object.keys(config.ui ?? {}).length > 0;
  return {
    node: hasUi || hasJavaScript(config),
    python: graphLocations(config).some(({ file }) => isInPython(file)),
  };
}

/** Whether anything that runs on the server is in JavaScript or TypeScript. */
export function hasJavaScript(config: NamedCode): boolean {
  const { http, auth, store } = config;
  const others = [http?.app, auth?.path, store?.index?.embed].flatMap((path) =>
    path === undefined ? [] : [splitExportPath(path).file],
  );
  const languages = new Set([...graphLocations(config).map(({ file }) => file), ...others].map(graphLanguage));
  return languages.has('javascript') || languages.has('typescript');
}

/** What this machine can run, or the sentence that says why it can't. */
export type Runnable = { kind: 'runnable' } | { kind: 'refused'; graphId: string; reason: string };

/**
 * Whether this machine can run the graphs: it runs JavaScript and TypeScript, by Node.js. The first that it can't
 * decides.
 *
 * @param options.python whether there is an environment of Python with the agent's packages.
 */
export function runnableHere(places: readonly GraphLocation[], { python = false } = {}): Runnable {
  for (const { graphId, file } of places) {
    const language = graphLanguage(file);
    if (language === 'javascript' || language === 'typescript' || (python && language === 'python')) continue;
    const reason =
      language === 'python'
        ? `Graph "${graphId}" is written in Python (${file}). This machine runs graphs in JavaScript and TypeScript only.`
        : `Graph "${graphId}" lies in ${file}, whose ending says no language. This machine runs .ts, .mts, .cts, .js, .mjs, .cjs and .py files.`;
    return { kind: 'refused', graphId, reason };
  }
  return { kind: 'runnable' };
}
