import { expect, test } from 'vitest';
import { isForStandardError } from '../../src/agent-server/log-level.ts';

const id = '0f3c9f0e-5a8e-4c3a-9d0b-6a2f1f0f7a11';

test.each([
  ['a run that failed, with its stack', `Run ${id} of graph "asker" failed: RangeError: too far\n    at node (a.ts:1)`],
  ['a run whose process is gone and that ends so', `Run ${id} was left by a process that is gone; it ends as error.`],
  ['a run that took too long there', `Run ${id} was left by a process that is gone; it ends as timeout.`],
  ['a run that can not be taken up', `Run ${id} was left by a process that is gone, and can't be taken up: Error: no`],
  ['an internal error in a run', `Run ${id} failed with an internal error: Error: no`],
  ['a request that failed', 'POST /threads/search failed: Error: no'],
  ['a sweep that failed', 'Polling for due crons failed: Error: no'],
  ['an end that could not be stored', `The end of run ${id} could not be stored: Error: no`],
  ['an outcome that can not be determined', `The outcome of run ${id} can't be determined: no`],
  ['a state that could not be read', `The state of thread ${id} could not be read: Error: no`],
  ['a warning', 'warning: langgraph.json:3:5: `pythn_version` is not known'],
])('standard error gets %s', (_, text) => expect(isForStandardError(text)).toBe(true));

test.each([
  ['an answer to a command', '{"event":"listening","port":1}'],
  ['a run that goes on here', `Run ${id} was left by a process that is gone; going on with attempt 2.`],
  ['a run that is undone', `Run ${id} was left by a process that is gone; it is rolled back.`],
  ['a run that ends as its caller wanted', `Run ${id} was left by a process that is gone; it ends as interrupted.`],
  ['a request, whatever its headers say', 'GET /ok 200 3 ms {"x-note":"it ended; it ends as error."}'],
  ['a request whose header says that it failed', 'GET /ok 200 3 ms {"x-note":"Run a failed: no"}'],
  ['a word in passing', 'Runs are exported to the tracing project again.'],
])('the output gets %s', (_, text) => expect(isForStandardError(text)).toBe(false));
