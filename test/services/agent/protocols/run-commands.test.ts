import { expect, test } from 'vitest';
import { startRun } from '../../../../src/services/agent/protocols/thread-stream/run-commands.ts';
import { createInternalApi } from '../../../../src/services/agent/protocols/internal-api.ts';

const run = { run_id: 'r', thread_id: 't', assistant_id: 'a', created_at: '', updated_at: '', status: 'running' };

/** Sends an input to a thread whose run has asked a question, and has not quite ended. */
async function started(multitaskStrategy: string | undefined, { asks }: { asks: boolean }): Promise<object> {
  let hasEnded = false;
  const posted: object[] = [];
  const answers: Record<string, () => unknown> = {
    'GET /threads/t': () => ({ status: hasEnded ? 'interrupted' : 'busy' }),
    'GET /threads/t/state': () => ({ values: {}, next: [], interrupts: asks ? [{ id: 'q', value: '?' }] : [] }),
    'GET /threads/t/runs': () => [run],
    'GET /threads/t/runs/r/join': () => ((hasEnded = true), {}),
    'POST /threads/t/runs': () => run,
  };
  const api = createInternalApi(async (request) => {
    if (request.method === 'POST') posted.push(Object(await request.json()));
    return Response.json(answers[`${request.method} ${new URL(request.url).pathname}`]?.());
  }, new Headers());
  await startRun({ assistant_id: 'a', input: 'yes', multitaskStrategy }, { api, threadId: 't' });
  return posted[0] ?? {};
}

test('an input that comes before the run that asked for it has ended is the answer', async () => {
  expect(await started(undefined, { asks: true })).toMatchObject({ command: { resume: 'yes' } });
});

test.each([
  ['the run has asked nothing', undefined, false],
  ['the input interrupts the run', 'interrupt', true],
])('an input is an input where %s', async (_, strategy, asks) => {
  expect(await started(strategy, { asks })).toMatchObject({ input: 'yes' });
});
