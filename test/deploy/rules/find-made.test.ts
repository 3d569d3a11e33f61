import { expect, test } from 'vitest';
import type { Revision } from '../../../src/contract/control/revision.ts';
import { findMade, newerThan } from '../../../src/deploy/rules/find-made.ts';
import { image } from './plan-cases.ts';

const listed = [{ id: 'r3' }, { id: 'r2' }, { id: 'r1' }];

test.each<[string | null, string[] | undefined]>([
  ['r1', ['r3', 'r2']],
  ['r3', []],
  [null, ['r3', 'r2', 'r1']],
  ['r0', undefined],
])('the revisions newer than %s', (former, ids) => expect(newerThan(former, listed)?.map(({ id }) => id)).toEqual(ids));

const [a, b] = ['a'.repeat(40), 'b'.repeat(40)];
const revision = (id: string, commit: string | undefined, status: string, image_uri = 'a:1'): Revision => ({
  id,
  status,
  source_revision_config: { repo_commit_sha: commit ?? null, image_uri },
});
const deployment = { ...image, active_revision_id: 'live' };

test.each<[string, Revision[], string]>([
  ['one of it is on its way', [revision('r2', a, 'QUEUED')], 'r2'],
  [
    'one of it ended, and an older one serves',
    [revision('r2', a, 'BUILD_FAILED'), revision('live', a, 'DEPLOYED')],
    'live',
  ],
  ['one of it ended', [revision('live', b, 'DEPLOYED'), revision('r2', a, 'BUILD_FAILED')], 'r2'],
  ['one of another commit serves', [revision('live', b, 'DEPLOYED')], 'none'],
  ['one does not report its commit yet', [revision('r2', undefined, 'QUEUED')], 'may-be'],
  [
    'one does not report its commit yet, and one of another serves',
    [revision('r3', undefined, 'QUEUED'), revision('live', b, 'DEPLOYED')],
    'may-be',
  ],
  ['one of another commit is on its way', [revision('r2', b, 'QUEUED')], 'none'],
  ['one ended without reporting its commit', [revision('r2', undefined, 'BUILD_FAILED')], 'none'],
])('a revision of a commit where %s', (_, newer, expected) => {
  const found = findMade({ commit: a }, { deployment, newer });
  expect(found.kind === 'made' ? found.revision.id : found.kind).toBe(expected);
});

test('no revision is of an unknown commit', () =>
  expect(findMade({}, { deployment, newer: [revision('live', a, 'DEPLOYED')] })).toEqual({ kind: 'none' }));

const content = { source_revision_config: { image_uri: 'b:1' } };

test('a revision of another content is not the one of the commit', () => {
  const newer = [revision('r3', undefined, 'QUEUED'), revision('r2', a, 'QUEUED')];
  expect(findMade({ commit: a, request: content }, { deployment, newer })).toEqual({ kind: 'none' });
});

test('a revision of the content that ended without its commit is the one, after those with it', () => {
  const ended = revision('r3', undefined, 'BUILD_FAILED', 'b:1');
  const wanted = { commit: a, request: content };
  expect(findMade(wanted, { deployment, newer: [ended] })).toMatchObject({ kind: 'made', revision: { id: 'r3' } });
  const newer = [ended, revision('r2', a, 'BUILD_FAILED', 'b:1')];
  expect(findMade(wanted, { deployment, newer })).toMatchObject({ kind: 'made', revision: { id: 'r2' } });
});

test('the newest revision of the content is found where no commit is known', () => {
  const newer = [revision('r3', undefined, 'QUEUED'), revision('r2', undefined, 'QUEUED', 'b:1')];
  expect(findMade({ request: content }, { deployment, newer })).toMatchObject({ kind: 'made', revision: { id: 'r2' } });
});

test('a change in place needs no revision', () => {
  expect(findMade({ request: {}, makesRevision: false }, { deployment, newer: [] })).toEqual({ kind: 'in-place' });
});
