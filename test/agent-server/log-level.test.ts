import { expect, test } from 'vitest';
import { isForStandardError } from '../../src/agent-server/log-level.ts';

const id = '0f3c9f0e-5a8e-4c3a-9d0b-6a2f1f0f7a11';

test.each([
  ['a failed run, with its stack', `Run ${id} of graph "asker" failed: RangeError: too far\n    at node (a.ts:1)`],
  ['an orphaned run that ends with an error', `Run ${id} was left by a process that is gone; it ends as error.`],
  ['an orphaned run that timed out', `Run ${id} was left by a process that is gone; it ends as timeout.`],
  [
    'an orphaned run that can’t be continued',
    `Run ${id} was left by a process that is gone, and can't be taken up: Error: no`,
  ],
  ['an internal error in a run', `Run ${id} failed with an internal error: Error: no`],
  ['a failed request', 'POST /threads/search failed: Error: no'],
  ['a failed sweep', 'Polling for due crons failed: Error: no'],
  ['an outcome that could not be stored', `The end of run ${id} could not be stored: Error: no`],
  ['an outcome that can’t be determined', `The outcome of run ${id} can't be determined: no`],
  ['a state that could not be read', `The state of thread ${id} could not be read: Error: no`],
  ['a warning', 'warning: langgraph.json:3:5: `pythn_version` is not known'],
])('%s goes to standard error', (_, text) => expect(isForStandardError(text)).toBe(true));

test.each([
  ['a command’s response', '{"event":"listening","port":1}'],
  ['an orphaned run that continues', `Run ${id} was left by a process that is gone; going on with attempt 2.`],
  ['an orphaned run that is rolled back', `Run ${id} was left by a process that is gone; it is rolled back.`],
  [
    'an orphaned run that ends as its caller requested',
    `Run ${id} was left by a process that is gone; it ends as interrupted.`,
  ],
  ['a request, whatever its headers say', 'GET /ok 200 3 ms {"x-note":"it ended; it ends as error."}'],
  ['a request whose header mentions a failure', 'GET /ok 200 3 ms {"x-note":"Run a failed: no"}'],
  ['an informational message', 'Runs are exported to the tracing project again.'],
])('%s goes to standard output', (_, text) => expect(isForStandardError(text)).toBe(false));
