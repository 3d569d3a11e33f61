import { expect, test } from 'vitest';
import type { Outcome } from '../../src/deploy/outcome-types.ts';
import { outcomeLines } from '../../src/report/story-line.ts';

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
  ['the revision that serves', {}, 'Agent: https://agent.test (revision old-old-)'],
  ['none where none does', { activeRevisionId: '' }, 'Agent: https://agent.test'],
])('where the agent answers is told with %s, whichever was followed', (_, more, line) => {
  expect(outcomeLines({ ...failed, ...more })).toEqual([
    'failed: Revision new-new-new ended DEPLOY_FAILED.',
    'What to do: Read the log lines.',
    line,
  ]);
});
