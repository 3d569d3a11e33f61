import { graphLocations, type GraphLocation, splitExportPath } from './graph-path.ts';
import type { GraphConfig } from './schema.ts';

/** The dotted name of a Python module, such as `agents.support`. */
const moduleName = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;

/** The language of a graph by the extension of its file. A dotted name is a Python module. */
export function graphLanguage(file: string): 'javascript' | 'typescript' | 'python' | 'unknown' {
  if (/\.([cm]?js|jsx)$/i.test(file)) return 'javascript';
  if (/\.([cm]?ts|tsx)$/i.test(file)) return 'typescript';
  return /\.py$/i.test(file) || moduleName.test(file) ? 'python' : 'unknown';
}

/** Whether a file, or a module, is in Python. */
export const isInPython = (file: string): boolean => graphLanguage(file) === 'python';

/** Whether a path of the configuration is the name of a Python module rather than a file. */
export const isModuleName = (path: string): boolean => moduleName.test(path) && !/\.(?:py|[cm]?[jt]sx?)$/i.test(path);

/** What `embed` refers to: an export of the agent, or a model. */
export type Embedder = { kind: 'export'; file: string } | { kind: 'model'; provider: string; model: string };

/** Parses `embed`. It is an export if it has the extension of a file or begins like a path, else a model. */
export function embedderOf(embed: string): Embedder {
  const { file } = splitExportPath(embed);
  if ((graphLanguage(file) !== 'unknown' && !isModuleName(file)) || /^[./\\]/.test(file))
    return { kind: 'export', file };
  const [provider = ''] = embed.split(':', 1);
  return { kind: 'model', provider, model: embed.slice(provider.length + 1) };
}

type NamedCode = Pick<GraphConfig, 'graphs' | 'http' | 'auth' | 'store'>;

/** Which package managers an agent needs, by the languages of its code. */
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
  const otherFiles = [http?.app, auth?.path, store?.index?.embed].flatMap((path) =>
    path === undefined ? [] : [splitExportPath(path).file],
  );
  const languages = new Set([...graphLocations(config).map(({ file }) => file), ...otherFiles].map(graphLanguage));
  return languages.has('javascript') || languages.has('typescript');
}

/** Whether this machine can run the graphs, or why it can't. */
export type Runnable = { kind: 'runnable' } | { kind: 'refused'; graphId: string; reason: string };

/**
 * Checks whether this machine can run the graphs: JavaScript and TypeScript always, Python with an environment. Reports
 * the first graph that it can't run.
 *
 * @param options.python whether there is a Python environment with the agent's packages.
 */
export function checkRunnable(graphs: readonly GraphLocation[], { python = false } = {}): Runnable {
  for (const { graphId, file } of graphs) {
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
