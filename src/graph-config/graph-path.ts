import type { GraphConfig, GraphEntry } from './schema.ts';

/** Where one graph lies, as the configuration file says it. */
export interface GraphPlace {
  graphId: string;
  /** The file, relative to the folder of the configuration file. */
  file: string;
  /** What the file exports: a name, or `default`. */
  exportName: string;
  description: string | undefined;
}

/** Takes `./src/agent.ts:graph` apart. The last colon parts the two: a path may hold one (a Windows drive). */
function placeOf(graphId: string, entry: GraphEntry): GraphPlace {
  const path = typeof entry === 'string' ? entry : entry.path;
  const colon = path.lastIndexOf(':');
  return {
    graphId,
    file: path.slice(0, colon),
    exportName: path.slice(colon + 1),
    description: typeof entry === 'string' ? undefined : (entry.description ?? undefined),
  };
}

/** Every graph of a configuration file, in the file's order. */
export function graphPlaces(config: Pick<GraphConfig, 'graphs'>): GraphPlace[] {
  return Object.entries(config.graphs).map(([graphId, entry]) => placeOf(graphId, entry));
}
