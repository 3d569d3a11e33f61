import { Pool } from 'pg';
import { expect, test, vi } from 'vitest';
import { CountedStore, workCounts } from '../../../app/operate/metrics.ts';
import { PostgresStore } from '../../../app/reconcile/postgres-store.ts';
import type { Bound } from '../../../app/reconcile/intent.ts';
import type { DesiredReport } from '../../../app/reconcile/report.ts';
import { anEnded, anIntent } from '../an-intent.ts';

const { repository } = anIntent('requested');
const revision = (id: string, how: Bound['how'] = 'triggered') => anIntent('following', { id, how });
const check = (conclusion?: 'success' | 'neutral'): DesiredReport => ({
  kind: 'check',
  repository,
  headSha: 'c',
  name: 'Landfall: support',
  wanted: {
    kind: 'check',
    content: {
      status: conclusion ? 'completed' : 'in_progress',
      title: 't',
      summary: 's',
      ...(conclusion ? { conclusion } : {}),
    },
  },
});

function tally() {
  const counted: string[] = [];
  const { intents, reports } = workCounts({
    countRevision: (how) => void counted.push(`revision ${how}`),
    countEnd: (kind) => void counted.push(`end ${kind}`),
    countCheck: (conclusion) => void counted.push(`check ${conclusion}`),
  });
  return { counted, intents, reports };
}

test('a revision and an end count once, however often they are stored', () => {
  const { counted, intents } = tally();
  intents(undefined);
  intents([anIntent('requested', { id: 'one' }), revision('one')]);
  intents([revision('one'), revision('two', 'adopted')]);
  intents([anEnded({ kind: 'deployed' }, { id: 'one' })]);
  intents([anEnded({ kind: 'deployed', liveIn: 'x' }, { id: 'one' })]);
  expect(counted).toEqual(['revision triggered', 'revision adopted', 'end deployed']);
});

test('a check counts when it is completed, and again when it turns', () => {
  const { counted, reports } = tally();
  reports([check(), check('neutral')]);
  reports([check('neutral')]);
  reports([check('success')]);
  expect(counted).toEqual(['check neutral', 'check success']);
});

test('what was counted long ago may be forgotten, so that memory is bounded', () => {
  const { counted, intents } = tally();
  for (let id = 0; id < 10_001; id += 1) intents([revision(String(id))]);
  intents([revision('10000')]);
  expect(counted).toHaveLength(10_001);
  intents([revision('0')]);
  expect(counted).toHaveLength(10_002);
});

test('a store that counts hands on whether a report may take the place of another one', async () => {
  const put = vi.spyOn(PostgresStore.prototype, 'putReport').mockResolvedValue();
  const pool = new Pool();
  try {
    const queue = { send: async () => undefined, sendMany: async () => [] };
    const counts = { countRevision: () => undefined, countEnd: () => undefined, countCheck: () => undefined };
    const store = new CountedStore({ pool, queue, clock: { now: () => 0 } }, counts);
    await store.putReport(check('neutral'), 3);
    await store.putReport(check('neutral'));
    expect(put.mock.calls.map(([, onlyAt]) => onlyAt)).toEqual([3, undefined]);
  } finally {
    put.mockRestore();
    await pool.end();
  }
});
