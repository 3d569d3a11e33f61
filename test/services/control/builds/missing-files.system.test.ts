import { afterEach, expect, test } from 'vitest';
import { workplace } from './building.ts';
import { commit, git, plainAgent } from './repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});
const place = () => workplace(plainAgent, atTheEnd);
const warningsOf = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('warning: '));

/** Commits submodules at these paths, without fetching any. */
function commitSubmodules(repo: string, paths: readonly string[]): void {
  const head = git(repo, 'rev-parse', 'HEAD');
  for (const path of paths) git(repo, 'update-index', '--add', '--cacheinfo', `160000,${head},${path}`);
  git(repo, 'commit', '--quiet', '--message', 'submodules');
}

const pointer = (start = 'version https://git-lfs.github.com/spec/v1\n'): string =>
  `${start}oid sha256:${'0'.repeat(64)}\nsize 5\n`;

test('names the submodules that a checkout lacks', async () => {
  const { build, repo, lines } = place();
  commitSubmodules(repo, ['libs/a', 'libs/b']);
  await build();
  expect(warningsOf(lines)).toEqual([
    'warning: Submodules are not fetched, so 2 folders of this build are empty: "libs/a", "libs/b". Commit their files to the repository itself, or deploy a folder that holds them (source: internal_source).',
  ]);
});

test('names the Git LFS pointers that a checkout has in place of files', async () => {
  const { build, repo, lines } = place();
  commit(repo, {
    'data/model.bin': pointer(),
    'no-pointer.txt': pointer('# version https://git-lfs.github.com/spec/v1\n'),
    'large.txt': pointer().padEnd(1_024),
    'link.bin': '-> data/model.bin',
  });
  await build();
  expect(warningsOf(lines)).toEqual([
    'warning: Files in Git LFS are not fetched, so 1 file of this build is only a pointer: "data/model.bin". Commit the content itself, or deploy a folder that holds it (source: internal_source).',
  ]);
});

test('counts many missing files and names only the first', async () => {
  const { build, repo, lines } = place();
  const names = Array.from({ length: 60 }, (_, number) => `m${String(number).padStart(2, '0')}`);
  commit(repo, Object.fromEntries(names.map((name) => [`files/${name}`, pointer()])));
  commitSubmodules(
    repo,
    names.map((name) => `folders/${name}`),
  );
  await build();
  expect(warningsOf(lines).map((line) => line.slice(0, line.indexOf('. ')))).toEqual([
    'warning: Submodules are not fetched, so 60 folders of this build are empty: "folders/m00", "folders/m01", "folders/m02" and 57 more',
    'warning: Files in Git LFS are not fetched, so 60 files of this build are only pointers: "files/m00", "files/m01", "files/m02" and 57 more',
  ]);
});

test('names hostile paths of missing files in one bounded line', async () => {
  const { build, repo, lines } = place();
  const name = `--upload-pack=x\n\u001b[31m\tlandfall-pointer ${'y'.repeat(200)}`;
  commit(repo, { [name]: pointer() });
  await build();
  const [line = '', ...others] = warningsOf(lines);
  expect(others).toEqual([]);
  expect(line).toContain('only a pointer: "--upload-pack=x??[31m?landfall-pointer yyy');
  expect(line.length).toBeLessThan(400);
});

test('says nothing of a checkout that lacks no file', async () => {
  const { build, repo, lines } = place();
  commit(repo, { '.gitattributes': '*.bin filter=lfs -text\n', '.gitmodules': '', 'small.bin': 'content' });
  await build();
  expect(warningsOf(lines)).toEqual([]);
});
