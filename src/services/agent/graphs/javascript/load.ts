import { existsSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { GraphLocation } from '../../../../agent-folder/graph-config/graph-path.ts';
import { didYouMean } from '../../../../kit/diagnostics/did-you-mean.ts';
import { StartupError } from '../../startup-error.ts';
import { logWhileLoading, type LoadingOptions } from '../../log-while-loading.ts';
import { loadEngine, type Engine } from './engine.ts';
import { isGraph, isGraphBuilder, type Graph, readsAssistant, type ServerRuntime } from '../graph.ts';
import { explainLoading } from './import-error.ts';
import { memberOf } from '../../members.ts';
import { acceptTypeScript } from './accept-typescript.ts';
import { exportNames, exportOf, importFile } from './agent-export.ts';

/** What a graph factory receives. */
export interface MakeConfig {
  configurable: Record<string, unknown>;
  runtime: ServerRuntime;
}

/** A graph of this revision. */
export interface LoadedGraph {
  graphId: string;
  description: string | undefined;
  engine: Engine;
  /** Returns the compiled graph for one run. A factory is called each time with that run's configuration. */
  make(config: MakeConfig): Promise<Graph>;
}

/** Loads all graphs of a configuration file. @throws StartupError for the first that is missing, throws, or is none. */
export async function loadGraphs(
  places: readonly GraphLocation[],
  configPath: string,
  loading: LoadingOptions,
): Promise<LoadedGraph[]> {
  const folder = dirname(configPath);
  if (places.length > 0) await acceptTypeScript(folder);
  const loaded: LoadedGraph[] = [];
  for (const place of places) {
    const what = `graph "${place.graphId}" of ${relative(folder, resolve(folder, place.file))}`;
    loaded.push(await logWhileLoading(what, loadGraph(place, folder), loading));
  }
  return loaded;
}

async function loadGraph({ graphId, file, exportName, description }: GraphLocation, folder: string) {
  const path = resolve(folder, file);
  const shownPath = relative(folder, path);
  if (!existsSync(path)) throw missingFile(shownPath, graphId);
  const module = await importFile(path).catch((error: unknown) => {
    throw explainLoading(error, `graph "${graphId}"`, path, folder);
  });
  const exported = exportOf(module, exportName);
  if (exported === undefined) throw missingExport(shownPath, { graphId, exportName }, exportNames(module));
  const make = maker(await Promise.resolve(exported), () => noGraph(shownPath, { graphId, exportName }));
  await make({ configurable: {}, runtime: readsAssistant }).catch((error: unknown) => {
    throw error instanceof StartupError ? error : explainLoading(error, `graph "${graphId}"`, path, folder);
  });
  return { graphId, description, engine: await loadEngine(path, graphId), make };
}

type Named = Pick<GraphLocation, 'graphId' | 'exportName'>;

const advice = 'Export a compiled graph, a StateGraph, or a function that makes one.';

/** The error for a graph whose file is not there. */
export function missingFile(shownPath: string, graphId: string): StartupError {
  const toDo = 'Check its path in the graph configuration file; a file that a build makes needs its build command.';
  return new StartupError('graph-file-missing', [`${shownPath}: graph "${graphId}" has no such file. ${toDo}`]);
}

/** The error for a module without the export. @param names what it exports. */
export function missingExport(
  shownPath: string,
  { graphId, exportName }: Named,
  names: readonly string[],
): StartupError {
  const problem = names.includes(exportName)
    ? `its export "${exportName}" for graph "${graphId}" is undefined. ${advice}`
    : `has no export "${exportName}" for graph "${graphId}". ${suggestion(exportName, names)}`;
  return new StartupError('graph-export-missing', [`${shownPath}: ${problem}`]);
}

/** The error for an export of another kind. */
export const noGraph = (shownPath: string, { graphId, exportName }: Named): StartupError =>
  new StartupError('graph-not-a-graph', [
    `${shownPath}: export "${exportName}" of graph "${graphId}" is no graph. ${advice}`,
  ]);

function suggestion(exportName: string, names: readonly string[]): string {
  if (names.length === 0) return 'It exports nothing.';
  const there = `It exports ${names.map((name) => `"${name}"`).join(', ')}.`;
  const meant = didYouMean(exportName, names);
  return meant === undefined ? there : `${there} Did you mean "${meant}"?`;
}

/** How an export becomes a compiled graph: it is one, holds one, compiles to one, or is a factory. */
function maker(exported: unknown, noGraph: () => StartupError): LoadedGraph['make'] {
  const compiled = (value: unknown): Graph => {
    const graph = isGraphBuilder(value) ? value.compile() : heldIn(value);
    if (!isGraph(graph)) throw noGraph();
    return graph;
  };
  if (typeof exported === 'function')
    return async ({ configurable, runtime }) => compiled(await exported({ configurable }, runtime));
  let graph: Graph | undefined;
  return async () => (graph ??= compiled(exported));
}

/** Unwraps an agent object of a higher-level library, which has its graph as `graph`. */
function heldIn(value: unknown): unknown {
  const held = memberOf(value, 'graph');
  return isGraph(held) ? held : value;
}
