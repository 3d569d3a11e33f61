import { expect, test } from 'vitest';
import { holdOf, statusLabel } from '../../src/console/pages/deployment/revision-state.ts';
import { verdictTable } from '../../src/console/pages/deployment/verdict-rows.ts';
import { historyEntry, type HistoryEntry } from '../../src/contract/control/revision-history.ts';

const entry = (id: string, tests: object[] | null, revision: object = {}): HistoryEntry =>
  historyEntry.parse({
    revision: { id, status: 'DEPLOYED', ...revision },
    cause: { kind: 'patch', actor: 'unknown', key_id: null, key_name: null, redeploy_of: null },
    commit: null,
    statuses: [],
    changed_fields: [],
    verdict: tests && { id: `v-${id}`, created_at: '2026-01-02T03:04:05Z', kind: 'passed', reporter: 'cli', tests },
    is_live: false,
    can_redeploy: true,
  });
const tested = (name: string, kind: string, counts: object = {}) => ({
  name,
  kind,
  attempts: 1,
  expectations: [],
  why: null,
  first_event_ms: null,
  total_ms: null,
  ...counts,
});

test('lists the verdicts of each test over the revisions, oldest first', () => {
  const { revisionIds, rows, hidden } = verdictTable([
    entry('r4', [tested('greets', 'failed', { answers: 30, right_answers: 15 })]),
    entry('r3', null),
    entry('r2', [tested('greets', 'passed', { answers: 30, right_answers: 28 }), tested('former', 'unproven')]),
    entry('r1', [tested('former', 'something-new', { answers: 0, right_answers: 0 })]),
  ]);
  expect(revisionIds).toEqual(['r1', 'r2', 'r4']);
  expect(rows.map(({ name, cells }) => [name, ...cells.map((cell) => cell?.text)])).toEqual([
    [
      'greets',
      undefined,
      'Passed: 28 of 30 answers right, 93.3 % (78.7 to 98.2 %)',
      'Failed: 15 of 30 answers right, 50 % (33.2 to 66.8 %)',
    ],
    ['former', 'something-new', 'Not proven', undefined],
  ]);
  expect(rows[0]?.cells[2]?.mark).toMatchObject({ rate: 0.5, low: expect.closeTo(0.332, 3) });
  expect(hidden).toBe(0);
});

test('counts the answers of a test against the live revision', () => {
  const comparison = {
    answers: { live: 60, new: 30 },
    right_answers: { live: 58, new: 15 },
    unreachable: 0,
    beside: false,
    measures: [],
    times_ms: { live: [], new: [] },
  };
  const { rows } = verdictTable([entry('r1', [tested('greets', 'failed', { comparison })])]);
  expect(rows[0]?.cells[0]).toMatchObject({
    mark: { rate: 0.5 },
    text: 'Failed: 15 of 30 answers right, 50 % (33.2 to 66.8 %), live 58 of 60',
  });
});

test('is bounded, and says what it leaves out', () => {
  const many = Array.from({ length: 100 }, (_, index) => tested(`test ${index}`, 'passed'));
  const table = verdictTable(Array.from({ length: 50 }, (_, index) => entry(`r${index}`, many)));
  expect(table.revisionIds).toHaveLength(12);
  expect(table.revisionIds.at(-1)).toBe('r0');
  expect([table.rows.length, table.hidden]).toEqual([30, 70]);
});

test.each([
  ['DEPLOYED', undefined, undefined, 'Deployed'],
  ['BUILDING', { ends_at: null, decision: null }, 'coming', 'Building'],
  ['DEPLOYING', { ends_at: '2026-01-02T03:04:05Z', decision: null }, 'held', 'Held before traffic'],
  ['DEPLOYING', { ends_at: '2026-01-02T03:04:05Z', decision: 'promoted' }, 'promoted', 'Deploying'],
  ['INTERRUPTED', { ends_at: '2026-01-02T03:04:05Z', decision: 'discarded' }, 'discarded', 'Discarded before traffic'],
  ['INTERRUPTED', { ends_at: '2026-01-02T03:04:05Z', decision: null }, undefined, 'Interrupted'],
  ['BUILD_FAILED', { ends_at: null, decision: null }, undefined, 'Build failed'],
])('%s with the hold %j is %s: %s', (status, hold, kind, label) => {
  const of = entry('r', null, { status, ...(hold ? { hold: { address: 'http://agent', ...hold } } : {}) });
  expect(holdOf(of)?.kind).toBe(kind);
  expect(statusLabel(of)).toBe(label);
});
