import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { takeCommands } from '../../src/agent-server/commands.ts';
import type { CommandAnswer } from '../../src/agent-server/commands.ts';

const noCommand = {
  event: 'failed',
  reason: 'Invalid command. Send {"do":"rest"} or {"do":"wake","revision_id":"..."}, on one line.',
};

test.each<[string, string, object[]]>([
  ['to rest', '{"do":"rest"}', [{ event: 'idle' }]],
  ['to wake', '{"do":"wake","revision_id":"r2"}', [{ event: 'serving' }]],
  ['nothing, which is passed over', ' ', []],
  ['what is no JSON', 'rest', [noCommand]],
  ['what is no command', '{"do":"sleep"}', [noCommand]],
  ['to wake as nothing', '{"do":"wake"}', [noCommand]],
  ['more than there is', '{"do":"rest","now":true}', [noCommand]],
  ['what fails', '{"do":"wake","revision_id":"awake"}', [{ event: 'failed', reason: 'it is awake' }]],
])('who asks for %s is answered on one line, and may go on', async (_, line, expected) => {
  const answers: CommandAnswer[] = [];
  const server = {
    rest: async () => undefined,
    wake: async (revisionId: string) => {
      if (revisionId === 'awake') throw new Error('it is awake');
    },
  };
  await takeCommands(Readable.from([`${line}\n{"do":"rest"}\n`]), server, (answer) => answers.push(answer));
  expect(answers).toEqual([...expected, { event: 'idle' }]);
});
