import { expect, test } from 'vitest';
import { matchRevision, newerThan } from '../../../src/deploy/rules/new-revisions.ts';
import type { RevisionSummary } from '../../../src/deploy/rules/trigger-types.ts';

const listed = [{ id: 'r3' }, { id: 'r2' }, { id: 'r1' }];

test.each<[string | null, string[] | undefined]>([
  ['r1', ['r3', 'r2']],
  ['r3', []],
  [null, ['r3', 'r2', 'r1']],
  ['r0', undefined],
])('the revisions newer than %s', (former, ids) => expect(newerThan(former, listed)?.map(({ id }) => id)).toEqual(ids));

const [a, b] = ['a'.repeat(40), 'b'.repeat(40)];
const revision = (id: string, commit: string | undefined, phase: RevisionSummary['phase']): RevisionSummary => ({
  id,
  commit,
  phase,
});

test.each<[string, RevisionSummary[], string]>([
  ['one of it is on its way', [revision('r2', a, 'on-its-way')], 'r2'],
  ['one of it ended, and an older one serves', [revision('r2', a, 'ended'), revision('r1', a, 'live')], 'r1'],
  ['one of it ended', [revision('r3', b, 'live'), revision('r2', a, 'ended')], 'r2'],
  ['one of another commit serves', [revision('r2', b, 'live')], 'none'],
  ['one does not report its commit yet', [revision('r2', undefined, 'on-its-way')], 'may-be'],
  [
    'one does not report its commit yet, and one of another serves',
    [revision('r3', undefined, 'on-its-way'), revision('r2', b, 'live')],
    'may-be',
  ],
  ['one of another commit is on its way', [revision('r2', b, 'on-its-way')], 'none'],
  ['one ended without reporting its commit', [revision('r2', undefined, 'ended')], 'none'],
])('a revision of a commit where %s', (_, made, expected) => {
  const found = matchRevision(a, made);
  expect(found.kind === 'made' ? found.revision.id : found.kind).toBe(expected);
});

test('no revision is of an unknown commit', () =>
  expect(matchRevision(undefined, [revision('r2', a, 'live')])).toEqual({ kind: 'none' }));
