import { describe, expect, test } from 'vitest';
import { pushFrom, type PushPayload } from '../../../src/deploy/rules/trigger.ts';

const [before, after, nothing] = ['b'.repeat(40), 'a'.repeat(40), '0'.repeat(40)];
const payload = (more: Partial<PushPayload> = {}): PushPayload => ({
  ref: 'refs/heads/main',
  before,
  after,
  created: false,
  deleted: false,
  forced: false,
  repository: { fork: false },
  ...more,
});

describe('a push to build', () => {
  test.each<[string, Partial<PushPayload>, object]>([
    ['one to a branch', {}, { branch: 'main', after, before, forced: false, created: false }],
    ['one that was forced', { forced: true }, { forced: true }],
    ['one that makes a branch', { created: true, before: nothing }, { created: true, before: undefined }],
    ['a new branch with a zero `before` only', { before: nothing }, { created: true, before: undefined }],
    [
      'commits whose names begin or end with zeros',
      { after: `0${'a'.repeat(39)}`, before: `${'b'.repeat(39)}0` },
      { created: false },
    ],
    [
      'commits whose names end or begin with zeros',
      { after: `${'a'.repeat(39)}0`, before: `0${'b'.repeat(39)}` },
      { created: false },
    ],
    ['a branch with slashes in its name', { ref: 'refs/heads/feat/refs/tags/x' }, { branch: 'feat/refs/tags/x' }],
    [
      'one whose payload lacks everything that it may',
      { created: undefined, deleted: undefined, forced: undefined, repository: undefined },
      { created: false, forced: false },
    ],
  ])('%s', (_, more, push) => {
    expect(pushFrom(payload(more))).toMatchObject({ kind: 'push', push });
  });
});

describe('no push to build', () => {
  test.each<[string, Partial<PushPayload>, string]>([
    ['a tag', { ref: 'refs/tags/v1' }, 'tag'],
    ['a tag that is deleted', { ref: 'refs/tags/v1', deleted: true, after: nothing }, 'tag'],
    ['a note', { ref: 'refs/notes/commits' }, 'not-a-branch'],
    ['a branch without a name', { ref: 'refs/heads/' }, 'not-a-branch'],
    ['a deleted branch', { deleted: true, after: nothing }, 'deleted'],
    ['a deletion with a zero `after` only', { after: nothing }, 'deleted'],
    ['a deletion in a repository of longer hashes', { after: '0'.repeat(64) }, 'deleted'],
    ['a fork', { repository: { fork: true } }, 'fork'],
  ])('%s', (_, more, code) => {
    expect(pushFrom(payload(more))).toEqual({ kind: 'none', code });
  });
});
