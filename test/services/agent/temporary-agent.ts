import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** An agent's folder for one test. */
export interface TemporaryAgent {
  folder: string;
  configPath: string;
  remove(): void;
}

/**
 * Writes an agent into a folder of its own, from which the installed packages can be imported.
 *
 * @param files contents by path; `langgraph.json` may be an object.
 */
export function temporaryAgent(files: Record<string, string | object>, { installed = true } = {}): TemporaryAgent {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-agent-'));
  for (const [path, content] of Object.entries({ 'package.json': { type: 'module' }, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
  if (installed)
    symlinkSync(join(import.meta.dirname, '../../../node_modules'), join(folder, 'node_modules'), 'junction');
  return {
    folder,
    configPath: join(folder, 'langgraph.json'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
