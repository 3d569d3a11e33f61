import { splitExportPath } from './export-path.ts';
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

function placeOf(graphId: string, entry: GraphEntry): GraphPlace {
  const path = typeof entry === 'string' ? entry : entry.path;
  return {
    graphId,
    ...splitExportPath(path),
    description: typeof entry === 'string' ? undefined : (entry.description ?? undefined),
  };
}

/** Every graph of a configuration file, in the file's order. */
export function graphPlaces(config: Pick<GraphConfig, 'graphs'>): GraphPlace[] {
  return Object.entries(config.graphs).map(([graphId, entry]) => placeOf(graphId, entry));
}
