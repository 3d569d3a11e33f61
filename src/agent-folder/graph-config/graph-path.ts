import * as z from 'zod';

/** A file below the configuration file's folder and the name of an export: `./src/agent.ts:graph`. */
export const exportPath = z
  .string()
  .regex(/^.+:[^:\\/]+$/, { error: 'must be a path and an export, such as `./src/agent.ts:graph`' });

/** A file below the configuration file's folder, with the name of an export unless it is the default one. */
export const modulePath = z.string().min(1);

/** A file or a module, and the name of an export. */
export interface ExportPath {
  file: string;
  exportName: string;
}

/**
 * Splits `./src/agent.ts:graph` at the last colon, because a path may contain one (a Windows drive). Without an export,
 * it is the default one.
 */
export function splitExportPath(path: string): ExportPath {
  const colon = path.lastIndexOf(':');
  if (colon <= 1) return { file: path, exportName: 'default' };
  return { file: path.slice(0, colon), exportName: path.slice(colon + 1) };
}

/** The location of one graph according to the configuration file. */
export interface GraphLocation {
  graphId: string;
  /** The file, relative to the folder of the configuration file. */
  file: string;
  /** The name of the export, or `default`. */
  exportName: string;
  description: string | undefined;
}

/** A graph as the configuration file has it. */
type WrittenGraph = string | { path: string; description?: string | null | undefined };

/** Every graph of a configuration file, in the file's order. */
export function graphLocations(config: { graphs: Readonly<Record<string, WrittenGraph>> }): GraphLocation[] {
  return Object.entries(config.graphs).map(([graphId, entry]) => {
    const { path, description } = typeof entry === 'string' ? { path: entry } : entry;
    return { graphId, ...splitExportPath(path), description: description ?? undefined };
  });
}
