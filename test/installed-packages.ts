import { chmodSync, cpSync, realpathSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { Repository } from '../src/demo/repository.ts';
import { firstClosed, wayTo } from '../src/kit/postgres/embedded/file-access.ts';
import { packagesOf } from '../src/services/control/isolation/program.ts';

const root = join(import.meta.dirname, '..');

/** The environment variable that passes the packages' location to the processes of a test run. */
const variable = 'LANDFALL_TEST_PACKAGES';

/** What the agents of the tests import. */
const needed = ['@langchain/langgraph', '@langchain/core', 'zod', 'typescript-5'];

/** A user who is neither root nor an owner: has only what every user may do. */
const anyone = { name: 'nobody', uid: 65_534, gid: 65_534 };

/** Whether every user may pass through to a folder that exists. */
export const isOpen = (folder: string): boolean => firstClosed(anyone, wayTo(realpathSync(folder))) === undefined;

/** The folder `node_modules` that agents of the tests are given instead of an installation, which they would wait for. */
export const installedPackages = (): string => process.env[variable] ?? join(root, 'node_modules');

/** An install command that links this project's packages, in no time. Its script is `link.mjs` in the repository. */
export const linkPackages = 'node link.mjs';
export const linkScript = `import { symlinkSync } from 'node:fs';
symlinkSync(${JSON.stringify(installedPackages())}, 'node_modules');
`;

/** Commits the script of `linkPackages`. */
export async function commitLinkScript(repository: Repository): Promise<void> {
  await writeFile(join(repository.folder, 'link.mjs'), linkScript);
  await repository.commit('Link the packages');
}

/**
 * As root agents run as users of their own, and a checkout may lie in a home that is closed to them: then they are given a
 * copy below `folder`, which has to be open.
 */
export function openPackages(folder: string): void {
  if (process.getuid?.() !== 0 || isOpen(root)) return;
  const copies = join(folder, 'packages');
  for (const found of packagesOf(needed, root)) {
    cpSync(found, join(copies, relative(realpathSync(root), found)), { recursive: true });
  }
  chmodSync(copies, 0o755);
  process.env[variable] = join(copies, 'node_modules');
}
