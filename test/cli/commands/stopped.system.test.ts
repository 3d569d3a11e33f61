import { expect, test } from 'vitest';
import { revisionId } from '../../client/stand-in.ts';
import { runCli } from '../run-cli.ts';
import { startStandIn, threadId } from './stand-in-service.ts';

test('ask names the thread where Ctrl-C cancels its run', async () => {
  const data = [{ id: 'm1', type: 'AIMessageChunk', content: 'Let me see' }, {}];
  const { env } = await startStandIn({ events: [{ event: 'messages', data }], isOpen: true });
  const end = await runCli(['ask', 'support', 'Hello'], {
    env,
    onOutput: (said, send) => {
      if (said === 'Let me ') send('SIGINT');
    },
  });
  expect(end).toEqual({
    code: 1,
    out: 'Let me see\n',
    err: `The run was cancelled.\nThread ${threadId}; go on with: landfall ask support --thread ${threadId} "…"\n`,
  });
});

test('logs --follow ends when the reader closes its output', async () => {
  const { env } = await startStandIn({ logs: ['one', 'two'] });
  const end = await runCli(['logs', 'support', '-f'], { env, closesOutput: true });
  expect(end).toMatchObject({ code: 0, err: `The log of the agent of revision ${revisionId}\n` });
});
