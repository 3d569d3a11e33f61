import { existsSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import type { GraphPlace } from '../../graph-config/graph-path.ts';
import { didYouMean } from '../../diagnostics/did-you-mean.ts';
import { StartupError } from '../startup-error.ts';
import { logWhileLoading, type LoadingOptions } from '../still-loading.ts';
import { loadEngine, type Engine } from './engine.ts';
import { isGraph, isGraphBuilder, type Graph } from './graph.ts';
import { explainImport } from './import-error.ts';
import { acceptTypeScript, exportNames, exportOf, importFile } from '../agent-export.ts';

/** A graph of this revision. */
export interface LoadedGraph {
  graphId: string;
  description: string | undefined;
  engine: Engine;
  /**
   * Returns the compiled graph for one run. A factory is called each time with that run's configuration.
   */
  make(config: { configurable: Record<string, unknown> }): Promise<Graph>;
}

/**
 * Loads every graph of a configuration file from the agent's own folder.
 *
 * @param configPath absolute path of the configuration file, to whose folder graph paths are relative.
 * @param loading logs a graph that is slow to load.
 * @throws StartupError for the first graph that is missing, throws, or is not a graph.
 */
export async function loadGraphs(
  places: readonly GraphPlace[],
  configPath: string,
  loading: LoadingOptions,
): Promise<LoadedGraph[]> {
  const folder = dirname(configPath);
  acceptTypeScript(folder);
  const loaded: LoadedGraph[] = [];
  for (const place of places) {
    const what = `graph "${place.graphId}" of ${relative(folder, resolve(folder, place.file))}`;
    loaded.push(await logWhileLoading(what, loadGraph(place, folder), loading));
  }
  return loaded;
}

async function loadGraph({ graphId, file, exportName, description }: GraphPlace, folder: string): Promise<LoadedGraph> {
  const path = resolve(folder, file);
  if (!existsSync(path)) {
    const advice = 'Check its path in the graph configuration file; a file that a build makes needs its build command.';
    throw new StartupError('graph-file-missing', [
      `${relative(folder, path)}: graph "${graphId}" has no such file. ${advice}`,
    ]);
  }
  const module = await importFile(path).catch((error: unknown) => {
    throw explainImport(error, graphId, path, folder);
  });
  const exported = exportOf(module, exportName);
  if (exported === undefined) {
    const names = exportNames(module);
    if (names.includes(exportName)) {
      throw new StartupError('graph-export-missing', [
        `${relative(folder, path)}: its export "${exportName}" for graph "${graphId}" is undefined. Export a compiled graph, a StateGraph, or a function that makes one.`,
      ]);
    }
    const meant = didYouMean(exportName, names);
    const there =
      names.length === 0 ? 'It exports nothing.' : `It exports ${names.map((name) => `"${name}"`).join(', ')}.`;
    throw new StartupError('graph-export-missing', [
      `${relative(folder, path)}: has no export "${exportName}" for graph "${graphId}". ${there}${meant === undefined ? '' : ` Did you mean "${meant}"?`}`,
    ]);
  }
  const make = maker(await Promise.resolve(exported), () => {
    const advice = 'Export a compiled graph, a StateGraph, or a function that makes one.';
    return new StartupError('graph-not-a-graph', [
      `${relative(folder, path)}: export "${exportName}" of graph "${graphId}" is no graph. ${advice}`,
    ]);
  });
  await make({ configurable: {} }).catch((error: unknown) => {
    throw error instanceof StartupError ? error : explainImport(error, graphId, path, folder);
  });
  return { graphId, description, engine: await loadEngine(path, graphId), make };
}

/** How an export becomes a compiled graph: it is one, holds one, compiles to one, or is a factory. */
function maker(exported: unknown, noGraph: () => StartupError): LoadedGraph['make'] {
  const compiled = (value: unknown): Graph => {
    const graph = isGraphBuilder(value) ? value.compile() : heldIn(value);
    if (!isGraph(graph)) throw noGraph();
    return graph;
  };
  if (typeof exported === 'function') return async (config) => compiled(await exported(config));
  let graph: Graph | undefined;
  return async () => (graph ??= compiled(exported));
}

/** Unwraps an agent object of a higher-level library, which has its graph as `graph`. */
function heldIn(value: unknown): unknown {
  const held: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'graph') : undefined;
  return isGraph(held) ? held : value;
}
