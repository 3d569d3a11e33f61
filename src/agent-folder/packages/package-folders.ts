import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { missingCodes, unlessCode } from '../../kit/errors.ts';
import { lockFiles } from './lock-files.ts';

/**
 * The folder and those above it, up to the one that its packages are installed in: the first with a lock file or
 * workspaces. Without one, the packages right above it. Further folders are not the agent's.
 */
export function packageFolders(folder: string): string[] {
  const all = foldersUp(folder);
  const root = all.findIndex(isInstalled);
  if (root >= 0) return all.slice(0, root + 1);
  const end = all.findIndex((each, at) => at > 0 && !existsSync(join(each, 'package.json')));
  return end < 0 ? all : all.slice(0, end);
}

const foldersUp = (folder: string): string[] => {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersUp(parent)];
};

const isInstalled = (folder: string): boolean =>
  [...lockFiles.map(([file]) => file), 'pnpm-workspace.yaml'].some((file) => existsSync(join(folder, file))) ||
  declaresWorkspaces(unlessCode(missingCodes, '', () => readFileSync(join(folder, 'package.json'), 'utf8')));

/** Whether a package.json declares workspaces. It isn't parsed: an invalid one is reported elsewhere. */
export const declaresWorkspaces = (text: string | Buffer): boolean => /"workspaces"\s*:/.test(text.toString());
