import * as z from 'zod';

/** A file below the configuration file's folder and what it exports, `./src/agent.ts:graph`. */
export const exportPath = z
  .string()
  .regex(/^.+:[^:\\/]+$/, { error: 'must be a path and an export, such as `./src/agent.ts:graph`' });

/** A file below the configuration file's folder, with what it exports where that is not its default. */
export const modulePath = z.string().min(1);

/** A file or a module, and what it exports. */
export interface ExportPath {
  file: string;
  exportName: string;
}

/**
 * Takes `./src/agent.ts:graph` apart; without an export the default one is meant. The last colon parts the two: a path
 * may hold one (a Windows drive).
 */
export function splitExportPath(path: string): ExportPath {
  const colon = path.lastIndexOf(':');
  if (colon <= 1) return { file: path, exportName: 'default' };
  return { file: path.slice(0, colon), exportName: path.slice(colon + 1) };
}
