import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { workplace } from './building.ts';
import { git, gitWith, plainAgent } from './repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

interface Shape {
  /** How many times each tree contains the one below it, from the root down. */
  widths: readonly number[];
  /** The size of the only file, which is in the last tree, in bytes. */
  bytes: number;
  /** The length of every name. */
  name?: number;
}

/** Commits to `main` a few trees that contain one another many times. */
function commitRepeated(repo: string, { widths, bytes, name = 5 }: Shape): string {
  let object = `100644 blob ${gitWith(Buffer.alloc(bytes), repo, 'hash-object', '-w', '--stdin')}`;
  for (const width of widths.toReversed()) {
    const lines = Array.from({ length: width }, (_, number) => `${object}\t${String(number).padStart(name, '0')}`);
    object = `040000 tree ${gitWith(lines.join('\n'), repo, 'mktree')}`;
  }
  const root = gitWith(`${git(repo, 'ls-tree', 'HEAD')}\n${object}\tlarge\n`, repo, 'mktree');
  const commit = git(repo, 'commit-tree', '-m', 'a large commit', root);
  git(repo, 'update-ref', 'refs/heads/main', commit);
  return commit;
}

const once = (times: number): number[] => Array.from({ length: times }, () => 1);

test.each<[string, Shape, string]>([
  ['files', { widths: [19, 19, 19, 19], bytes: 1 }, 'more than 100000 files and folders'],
  ['folders', { widths: [1_500, ...once(80)], bytes: 1 }, 'more than 100000 files and folders'],
  ['bytes', { widths: [300], bytes: 8 * 1024 ** 2 }, 'more than 2147483648 bytes'],
  ['names', { widths: once(90), bytes: 1, name: 250 }, 'a path that is too long'],
  ['depth', { widths: once(205), bytes: 1 }, 'a path that is too long'],
])('does not check out a commit that expands beyond the limit in %s', async (_, shape, holds) => {
  const { tryBuild, repo, dataDir } = workplace(plainAgent, atTheEnd);
  const commit = commitRepeated(repo, shape);
  const end = await tryBuild();
  expect(end).toEqual({
    kind: 'failed',
    reason: `Commit ${commit} holds ${holds}, so it is not checked out. Remove from the repository what the agent does not need, then deploy again.`,
  });
  expect(existsSync(join(dataDir, 'builds/r-1'))).toBe(false);
});
