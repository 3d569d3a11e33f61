import { expect, test } from 'vitest';
import type { Outcome } from '../../../src/deploy/machine/outcome-types.ts';
import type { DeployEvent } from '../../../src/deploy/machine/deploy-event.ts';
import type { Comparison, TestVerdict } from '../../../src/deploy/rules/verdict-types.ts';
import { outcomeLines, eventLines } from '../../../src/deploy/words/event-lines.ts';

const failed: Outcome = {
  kind: 'failed',
  passes: false,
  reason: 'Revision new-new-new ended DEPLOY_FAILED.',
  advice: 'Read the log lines.',
  changed: true,
  revisionId: 'new-new-new',
  activeRevisionId: 'old-old-old',
  deploymentUrl: 'https://agent.test',
  notes: [],
};

test.each<[string, Partial<Outcome>, string]>([
  ['the serving revision', {}, 'Agent: https://agent.test (revision old-old-)'],
  ['no revision if none serves', { activeRevisionId: '' }, 'Agent: https://agent.test'],
])('the address of the agent is reported with %s', (_, more, line) => {
  expect(outcomeLines({ ...failed, ...more })).toEqual([
    'failed: Revision new-new-new ended DEPLOY_FAILED.',
    'What to do: Read the log lines.',
    line,
  ]);
});

test.each<[DeployEvent, string[]]>([
  [{ kind: 'uploading', files: 1, size: 1_234 }, ['Uploading 1 file, 1,234 bytes packed']],
  [{ kind: 'uploaded', ms: 2_400 }, ['Uploaded in 2.4 s']],
  [{ kind: 'upload-failed', why: 'the store\nis busy' }, ['The upload failed and is retried: the store is busy']],
  [
    { kind: 'deleting', deploymentId: 'd1', deploymentName: 'agent', withTracingProject: true },
    ['Deleting agent (d1), and its tracing project'],
  ],
  [
    { kind: 'deleting', deploymentId: 'd1', deploymentName: 'agent\u001b[2J', withTracingProject: false },
    ['Deleting agent (d1), without its tracing project'],
  ],
  [
    { kind: 'leaving', status: 'AWAITING_DELETE', sinceMs: 5_000, leftMs: 60_000 },
    ['     5.0 s  AWAITING_DELETE, at most 1 min more'],
  ],
])('reports uploads and deletions in a line: %o', (event, lines) => expect(eventLines(event)).toEqual(lines));

const comparison: Comparison = {
  live: { right: 58, answers: 60 },
  changed: { right: 60, answers: 60 },
  unreachable: 0,
  measures: [
    { measure: 'pass-rate', verdict: 'no-worse', decides: true, chance: 1, live: 58, changed: 60 },
    { measure: 'total', verdict: 'worse', decides: true, chance: 0.0001, live: 1_000, changed: 1_300 },
  ],
  times: { live: [], changed: [] },
  isBeside: true,
};

test.each<[string, TestVerdict, string[]]>([
  [
    'an answer that did not come',
    { kind: 'unproven', because: 'unreachable', why: 'no answer in one attempt: refused' },
    ['  greets: attempt 8 was not answered (no answer in one attempt: refused), retrying'],
  ],
  [
    'a rate',
    { kind: 'unproven', because: 'undecided', why: '', rate: { right: 6, answers: 8 } },
    ['  greets: 6 of 8 right so far'],
  ],
  [
    'a comparison',
    { kind: 'unproven', because: 'undecided', why: '4 answers of each agent so far' },
    ['  greets: 4 answers of each agent so far'],
  ],
])('reports %s in a line while a test goes on', (_, verdict, lines) => {
  expect(eventLines({ kind: 'smoke-attempt', name: 'greets', attempt: 8, verdict, again: true })).toEqual(lines);
  expect(eventLines({ kind: 'smoke-attempt', name: 'greets', attempt: 8, verdict, again: false })).toEqual([]);
});

test('reports no progress of a comparison after one answer', () => {
  const verdict: TestVerdict = { kind: 'unproven', because: 'undecided', why: '0 answers of each agent so far' };
  expect(eventLines({ kind: 'smoke-attempt', name: 'greets', attempt: 1, verdict, again: true })).toEqual([]);
});

test('reports a deployment that is created by its fields, without their former values', () => {
  const change = { from: undefined, makesRevision: false, why: 'the deployment is created with it' };
  const changes = [
    { field: 'name', to: 'support', ...change },
    { field: 'source', to: 'github', ...change },
  ];
  expect(eventLines({ kind: 'planned', plan: { kind: 'create', changes } })).toEqual([
    'Plan: create the deployment',
    '  + name: support',
    '  + source: github',
  ]);
});

test('reports a test against the live revision with what was counted', () => {
  const verdict: TestVerdict = { kind: 'failed', held: [], firstEventMs: 200, totalMs: 1_300, comparison };
  expect(eventLines({ kind: 'smoke-tested', tested: { name: 'greets', attempts: 122, verdict } })).toEqual([
    '  greets: failed after 122 attempts (first event 200 ms, total 1.3 s)',
    '    60 of 60, live 58 of 60: worse by total time',
  ]);
});
