import { expect, test } from 'vitest';
import { heldRevision } from '../../../src/cli/commands/decide.ts';
import type { Revision } from '../../../src/contract/control/revision.ts';

const revision = (id: number, isHeld = false): Revision => ({
  id: `r${id}`,
  status: isHeld ? 'AWAITING_TRAFFIC' : 'DEPLOYED',
  source_revision_config: {},
  ...(isHeld ? { hold: { address: 'https://held.test', ends_at: null, decision: null } } : {}),
});

/** The newest of 250 revisions is r250; r20 is held. */
const revisions = Array.from({ length: 250 }, (_, index) => revision(250 - index, index === 230));
const control = {
  listRevisions: async (_: string, { limit = 20, offset = 0 }: { limit?: number; offset?: number }) => ({
    resources: revisions.slice(offset, offset + limit),
    offset: offset + limit,
  }),
};

test.each([
  ['r20', undefined],
  ['r20', 'r20'],
])('finds the held revision %s behind many newer ones, where %s is requested', async (id, requested) => {
  expect(await heldRevision({ id: 'd1', name: 'echo' }, requested, control)).toEqual({ ok: true, id });
});

test('says that a revision is not held', async () => {
  expect(await heldRevision({ id: 'd1', name: 'echo' }, 'r250', control)).toEqual({
    ok: false,
    problem: 'Revision r250 of echo is not held. Give the id of one that is, or none for the one held for longest.',
  });
});
