import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { publishedAction } from './action-source.ts';

/**
 * How a person starts this program in a folder. `npx landfall` finds the package that is installed there or published;
 * before that npx would offer whatever another package of this name holds, so the program is started by its path.
 */
export function commandHere(root: string, folder: string = process.cwd()): string {
  const isPublished = publishedAction(readFileSync(join(root, 'package.json'), 'utf8')) !== undefined;
  if (isPublished || isInstalled(root, folder)) return 'npx landfall';
  const program = join(root, 'bin', 'landfall.cjs');
  return `node ${/^[\w./:\\@+-]+$/.test(program) ? program : `'${program.replaceAll("'", String.raw`'\''`)}'`}`;
}

/** Whether the package at `root` is the one that programs of a folder use. */
function isInstalled(root: string, folder: string): boolean {
  const installed = join(folder, 'node_modules', 'landfall');
  if (existsSync(installed)) return realpathSync(installed) === realpathSync(root);
  return dirname(folder) !== folder && isInstalled(root, dirname(folder));
}
