import { expect, test } from 'vitest';
import type { Outcome } from '../../src/deploy/outcome-types.ts';
import type { DeployEvent } from '../../src/deploy/deploy-event.ts';
import { outcomeLines, eventLines } from '../../src/report/event-lines.ts';

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
