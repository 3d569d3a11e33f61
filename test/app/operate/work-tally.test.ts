import { Pool } from 'pg';
import { expect, test, vi } from 'vitest';
import { CountedStore, workCounts } from '../../../app/operate/metrics.ts';
import { PostgresStore } from '../../../app/reconcile/postgres-store.ts';
import type { Intent, Terms } from '../../../app/reconcile/intent.ts';
import type { DesiredReport } from '../../../app/reconcile/report.ts';

const repository = { installationId: 5, repositoryId: 7, owner: 'acme', name: 'agents' };
const terms: Terms = {
  deploymentName: 'support',
  builder: 'app',
  rules: { skipWords: [], afterRollback: 'continue' },
  smokeTests: [],
  onFailure: 'keep',
  environment: { name: 'support', production: false, transient: false },
  differences: [],
  timeoutMs: 60_000,
  notes: [],
};
const intent = (more: Partial<Intent>): Intent => ({
  id: 'one',
  seq: 1,
  deploymentId: 'd',
  repository,
  branch: 'main',
  commit: 'c',
  cause: { kind: 'push', key: 'k', at: 0 },
  terms,
  state: 'following',
  sending: { kind: 'restate', repoRef: 'main' },
  createdAt: 0,
  updatedAt: 0,
  ...more,
});
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
  intents([intent({}), intent({ how: 'triggered' })]);
  intents([intent({ how: 'triggered' }), intent({ id: 'two', how: 'adopted' })]);
  const end = { kind: 'deployed', reason: 'it is live', at: 1 } as const;
  intents([intent({ how: 'triggered', end })]);
  intents([intent({ how: 'triggered', end: { ...end, liveIn: 'x' } })]);
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
  for (let id = 0; id < 10_001; id += 1) intents([intent({ id: String(id), how: 'triggered' })]);
  intents([intent({ id: '10000', how: 'triggered' })]);
  expect(counted).toHaveLength(10_001);
  intents([intent({ id: '0', how: 'triggered' })]);
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
