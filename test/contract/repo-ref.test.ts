import { expect, test } from 'vitest';
import { isTagRef, readRepoRef, readWrittenRef, sameCommit, shortCommit } from '../../src/contract/control/repo-ref.ts';

test.each([
  ['a branch as its plain name', 'main', 'main'],
  ['a branch with slashes', 'feature/one', 'feature/one'],
  ['a branch in full, put right', 'refs/heads/feature/one', 'feature/one'],
  ['a branch with white space around it, put right', ' main\n', 'main'],
  ['a branch whose name looks like a short form', 'origin/main', 'origin/main'],
  ['such a branch in full, put right', 'refs/heads/tags/v1', 'tags/v1'],
  ['a tag in full', 'refs/tags/v1.0.0', 'refs/tags/v1.0.0'],
])('%s', (_, written, ref) => expect(readRepoRef(written)).toEqual({ ok: true, ref }));

test.each([
  ['a branch of a remote in full', 'refs/remotes/origin/feature/one', 'feature/one'],
  ['the merge of a pull request', 'refs/pull/1/merge', undefined],
  ['a commit', 'a'.repeat(40), undefined],
  ['no name', '', undefined],
  ['a tag without a name', 'refs/tags/', undefined],
  ['a branch without a name', 'refs/heads/', undefined],
  ['a name that git does not allow', 'a..b', undefined],
  ['a name that looks like an option', '-b', undefined],
  ['a name with a space', 'a b', undefined],
  ['a name of a lock', 'a.lock', undefined],
])('%s is refused, with a suggestion if possible', (_, written, suggestion) => {
  const read = readRepoRef(written);
  expect(read).toMatchObject({ ok: false, ...(suggestion ? { suggestion } : {}) });
  expect('suggestion' in read).toBe(suggestion !== undefined);
});

test.each([
  ['a tag', 'tags/v1', 'refs/tags/v1'],
  ['a branch', 'heads/main', 'main'],
  ['a branch of a remote', 'origin/main', 'main'],
  ['a branch of a remote with its folder', 'remotes/origin/main', 'main'],
])('a person may not write %s in a short form, and reads the right one', (_, written, suggestion) => {
  expect(readWrittenRef(written)).toMatchObject({ ok: false, suggestion });
  expect(readWrittenRef(suggestion)).toEqual(readRepoRef(suggestion));
});

test('what was put right stays as it is', () => {
  for (const written of ['refs/heads/main', 'refs/heads/origin/main', 'refs/tags/v1', 'a/b']) {
    const read = readRepoRef(written);
    expect(read.ok && readRepoRef(read.ref)).toEqual(read);
  }
});

test('only a full ref is a tag', () => {
  expect([isTagRef('refs/tags/v1'), isTagRef('v1'), isTagRef('tags/v1')]).toEqual([true, false, false]);
});

const [sha, another] = ['a'.repeat(40), 'b'.repeat(40)];
test.each([
  ['the same', sha, sha, true],
  ['in capitals', sha, sha.toUpperCase(), true],
  ['abbreviated', sha, sha.slice(0, 7), true],
  ['abbreviated to fewer than 7 characters', sha, sha.slice(0, 6), false],
  ['abbreviated, compared with the whole', sha.slice(0, 7), sha, true],
  ['the end of another', 'a'.repeat(7), `${'b'.repeat(33)}${'a'.repeat(7)}`, false],
  ['an abbreviation of another', 'b'.repeat(7), sha, false],
  ['another', sha, another, false],
  ['null', sha, null, false],
  ['empty', '', sha, false],
  ['undefined', undefined, undefined, false],
])('one commit? %s', (_, one, other, same) => expect(sameCommit(one, other)).toBe(same));

test('a commit is shown by its first seven characters', () => expect(shortCommit(sha)).toBe('aaaaaaa'));
