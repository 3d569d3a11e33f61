import { expect, test } from 'vitest';
import type { TracedRunResponse, TracedStep } from '../../src/contract/control/tracing-project.ts';
import { alignSteps, toWaterfall } from '../../src/console/pages/runs/step-rows.ts';
import { runSchema } from '../../src/contract/agent/run.ts';
import {
  joinRuns,
  matchingLive,
  mayBeLive,
  showsNoLiveRuns,
  toListedRun,
} from '../../src/console/pages/runs/live-runs.ts';
import { errorText } from '../../src/console/parts/words.ts';
import { absentValues } from '../../src/console/pages/runs/run-facts.ts';
import { readRunFilter, runFilterProblems, toRunsQuery } from '../../src/console/pages/runs/run-filter.ts';

const start = Date.parse('2026-11-26T10:00:00Z');
const at = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();

const step = (name: string, from: number, until: number | null, rest: Partial<TracedStep> = {}): TracedStep => ({
  id: `${name}-${from}`,
  name,
  path: [],
  started_at: at(from),
  ended_at: until === null ? null : at(until),
  input: { given: name },
  output: { made: name },
  error: null,
  is_cut: false,
  ...rest,
});

const run = (steps: TracedStep[], rest: Partial<TracedRunResponse> = {}): TracedRunResponse => ({
  id: 'b6ed4e8a-5c0e-4c6e-a7a8-4a5b8f5c3d10',
  thread_id: null,
  assistant_id: 'a',
  graph_id: 'g',
  revision_id: null,
  status: 'success',
  error: null,
  tokens: null,
  created_at: at(0),
  started_at: at(0),
  ended_at: at(10),
  input: { a: 1 },
  output: { b: 1 },
  steps,
  is_cut: false,
  ...rest,
});

test('puts the steps of subgraphs below theirs, on the scale of the run', () => {
  const inner = { path: ['outer'] };
  // Two parallel steps, the second of which holds a subgraph that ran twice.
  const steps = [
    step('outer', 1, 5),
    step('other', 2, 9),
    step('first', 2, 3, inner),
    step('outer', 6, null),
    step('first', 7, 8, inner),
  ];
  const { rows, totalMs } = toWaterfall(run(steps));
  const unit = totalMs / 10;
  expect(rows.map(({ step: { id }, depth, left, width, offsetMs }) => [id, depth, left, width, offsetMs])).toEqual([
    ['outer-1', 0, 10, 40, unit],
    ['first-2', 1, 20, 10, 2 * unit],
    ['other-2', 0, 20, 70, 2 * unit],
    ['outer-6', 0, 60, 40, 6 * unit],
    ['first-7', 1, 70, 10, 7 * unit],
  ]);
});

test('keeps a step whose subgraph was left out, and steps outside of the run by another clock', () => {
  const { rows } = toWaterfall(run([step('alone', 4, 5, { path: ['lost'] }), step('early', -10, 20)]));
  expect(rows.map(({ step: { name }, left, width }) => [name, Math.round(left), Math.round(width)])).toEqual([
    ['early', 0, 100],
    ['alone', 47, 3],
  ]);
});

test('aligns the steps of two runs by their names, also within loops', () => {
  const named = (names: string): TracedStep[] => names.split('').map((name, index) => step(name, index, index + 1));
  const pairs = alignSteps(named('abcad'), named('acabd'));
  expect(pairs.map(({ left, right }) => `${left?.name ?? '-'}${right?.name ?? '-'}`)).toEqual([
    'aa',
    'b-',
    'cc',
    'aa',
    '-b',
    'dd',
  ]);
  expect(alignSteps([], named('x'))).toEqual([{ left: undefined, right: expect.objectContaining({ name: 'x' }) }]);
  const sameName = alignSteps([step('n', 0, 1)], [step('n', 0, 1, { path: ['sub'] })]);
  expect(sameName).toHaveLength(2);
});

test('distinguishes hidden values from absent ones', () => {
  const hidden = { input: null, output: null };
  expect(absentValues(run([step('a', 0, 1, { input: null })], { input: null }))).toEqual({
    inputs: 'Hidden by the agent’s settings (LANGSMITH_HIDE_INPUTS).',
    outputs: 'None.',
  });
  expect(absentValues(run([step('a', 0, 1, hidden)], hidden)).outputs).toContain('LANGSMITH_HIDE_OUTPUTS');
  // A resumed run has no input, and a failed step no output.
  expect(absentValues(run([step('a', 0, 1, { output: null, error: 'E' })], hidden))).toEqual({
    inputs: 'None.',
    outputs: 'None.',
  });
  expect(absentValues(run([], hidden)).inputs).toMatch(/^Not recorded/);
});

const started = (changes: object) =>
  toListedRun(
    runSchema.parse({
      run_id: 'r',
      thread_id: 't',
      assistant_id: 'a',
      created_at: at(0),
      updated_at: at(0),
      status: 'running',
      kwargs: { input: { messages: [{ role: 'user', content: 'Hi' }] } },
      metadata: { graph_id: 'g' },
      ...changes,
    }),
  );

test('lists runs in progress first, with their input and what started them', () => {
  const all = [
    started({ run_id: 'queued', status: 'pending', metadata: { cron_id: 'c' } }),
    started({ run_id: 'busy', metadata: { landfall_trigger: 'playground' }, thread_id: 'other' }),
  ];
  const ended = { ...started({ run_id: 'done' }), status: 'interrupted', ended_at: at(1) };
  const every = readRunFilter({});
  expect(joinRuns(matchingLive(all, every), [ended]).map(({ id, trigger }) => [id, trigger])).toEqual([
    ['busy', 'playground'],
    ['queued', 'cron'],
    ['done', 'api'],
  ]);
  expect(started({})).toMatchObject({ input_preview: 'Hi', graph_id: 'g', ended_at: null });
  expect(started({ kwargs: { command: { resume: 'yes' } } }).input_preview).toBe('yes');
  // One that has ended meanwhile is listed once.
  expect(joinRuns([started({ run_id: 'done' })], [ended])).toEqual([ended]);
  const filtered = (query: Record<string, string>) => matchingLive(all, readRunFilter(query)).map(({ id }) => id);
  expect([filtered({ status: 'pending' }), filtered({ thread: 'other' }), filtered({ assistant: 'x' })]).toEqual([
    ['queued'],
    ['busy'],
    [],
  ]);
  expect([every, readRunFilter({ status: 'running' }), readRunFilter({ time: '1h' })].map(mayBeLive)).toEqual([
    true,
    true,
    false,
  ]);
});

test.each([
  [{ error: 'Error', message: 'no model' }, 'no model'],
  [{ error: 'TypeError', message: 'no model' }, 'TypeError: no model'],
  [{ error: 'TypeError', message: 'TypeError: no model' }, 'TypeError: no model'],
  [{ error: 'Error', message: '' }, 'Error'],
])('names the class of an error %j once', (error, text) => {
  expect(errorText(error)).toBe(text);
});

test('sends only the filters that the service accepts', () => {
  const thread = '1d9a2f50-6a2e-4f6a-9f0f-1c9d1c0f7a11';
  const filter = readRunFilter({ status: 'error', thread: ` ${thread} `, time: '24h', error: ' boom ', other: 'x' });
  expect(toRunsQuery(filter, start)).toEqual({
    status: 'error',
    assistant_id: undefined,
    thread_id: thread,
    from: '2026-11-25T10:00:00.000Z',
    until: undefined,
    query: 'boom',
  });
  const wrong = readRunFilter({ status: 'pending', thread: 'x', time: 'custom', from: 'yesterday', error: ' ' });
  expect(Object.values(toRunsQuery(wrong, start)).every((value) => value === undefined)).toBe(true);
  expect(runFilterProblems(wrong)).toEqual({ thread: 'Enter the whole id of a thread.' });
  const backwards = readRunFilter({ time: 'custom', from: '2026-11-26T10:00', until: '2026-11-26T09:00' });
  expect(runFilterProblems(backwards)).toEqual({ until: 'Choose a time after the start.' });
});

test.each([
  [403, true],
  [404, true],
  [503, true],
  [401, false],
  [422, false],
  [429, false],
  [500, false],
  [0, false],
])('takes a response of %i to the list of runs in progress for an empty one: %s', (status, isEmpty) =>
  expect(showsNoLiveRuns(status)).toBe(isEmpty),
);
