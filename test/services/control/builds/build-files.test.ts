import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { damagedFile, listBuildFiles } from '../../../../src/services/control/builds/build-files.ts';
import { temporaryFolder } from './repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

let root: string;
let source: string;
beforeEach(() => {
  root = temporaryFolder(atTheEnd);
  source = join(root, 'source');
  mkdirSync(join(source, 'node_modules/x'), { recursive: true });
  writeFileSync(join(source, 'graph.ts'), 'export const graph = 1;');
  writeFileSync(join(source, 'node_modules/x/index.js'), 'x');
});

test.each<[string, string | undefined, () => void]>([
  ['nothing', undefined, () => undefined],
  ['a new file', undefined, () => writeFileSync(join(source, 'notes'), 'x')],
  ['a truncated file', 'graph.ts', () => writeFileSync(join(source, 'graph.ts'), '')],
  ['a deleted file', 'node_modules/x/index.js', () => rmSync(join(source, 'node_modules/x/index.js'))],
  ['a file made unreadable', 'graph.ts', () => chmodSync(join(source, 'graph.ts'), 0)],
  ['everything', '.', () => rmSync(source, { recursive: true })],
])('detects damage to a build: %s', async (_, damaged, happen) => {
  await listBuildFiles({ root, source });
  happen();
  expect(await damagedFile({ root, source })).toBe(damaged);
});

test('does not list what a symlink of the build leads to', async () => {
  mkdirSync(join(root, 'outside/inner'), { recursive: true });
  writeFileSync(join(root, 'outside/inner/canary'), 'x');
  symlinkSync(join(root, 'outside'), join(source, 'evil'));
  await listBuildFiles({ root, source });
  const list = readFileSync(join(root, 'files.jsonl'), 'utf8');
  expect(list).toContain('"evil"');
  expect(list).not.toContain('inner');
});
