import { splitExportPath } from './export-path.ts';
import type { GraphConfig } from './schema.ts';

/** The location of one graph according to the configuration file. */
export interface GraphLocation {
  graphId: string;
  /** The file, relative to the folder of the configuration file. */
  file: string;
  /** The name of the export, or `default`. */
  exportName: string;
  description: string | undefined;
}

/** Every graph of a configuration file, in the file's order. */
export function graphLocations(config: Pick<GraphConfig, 'graphs'>): GraphLocation[] {
  return Object.entries(config.graphs).map(([graphId, entry]) => {
    const { path, description } = typeof entry === 'string' ? { path: entry } : entry;
    return { graphId, ...splitExportPath(path), description: description ?? undefined };
  });
}
