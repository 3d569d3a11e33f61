import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const example = join(import.meta.dirname, '../../../../examples/echo-agent');

/** The example as committed: its sources without installed packages. */
export function exampleFiles(): Record<string, string> {
  const entries = readdirSync(example, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(example.length + 1))
    .filter((path) => !path.startsWith('node_modules'));
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(example, path), 'utf8')]));
}
