import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { planInstall } from '../../../src/agent-folder/packages/install-plan.ts';
import { projectFolders } from '../../../src/agent-folder/packages/project-folders.ts';
import { temporaryFolder, write } from '../../services/control/builds/repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0)) end();
});

const member = { 'package.json': '{}', 'apps/agent/package.json': '{"dependencies":{"lib":"workspace:*"}}' };

test.each<[string, Record<string, string>, { manager: string; folder: string }]>([
  [
    'a workspace of pnpm at its root',
    { ...member, 'pnpm-workspace.yaml': 'packages:\n  - apps/*\n' },
    { manager: 'pnpm', folder: '' },
  ],
  [
    'a workspace of npm at its root',
    { ...member, 'package.json': '{"workspaces":["apps/*"]}' },
    { manager: 'npm', folder: '' },
  ],
  [
    'a package below settings of pnpm by itself',
    { ...member, 'pnpm-workspace.yaml': 'onlyBuiltDependencies:\n  - esbuild\n' },
    { manager: 'npm', folder: 'apps/agent' },
  ],
])('installs %s where there is no lock file', (_, files, plan) => {
  const root = temporaryFolder(atTheEnd);
  write(root, files);
  expect(planInstall(undefined, projectFolders(join(root, 'apps/agent'), root))).toMatchObject(plan);
});
