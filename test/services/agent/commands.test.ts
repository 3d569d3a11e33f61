import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { takeCommands } from '../../../src/services/agent/commands.ts';
import type { CommandAnswer } from '../../../src/services/agent/commands.ts';

const noCommand = {
  event: 'failed',
  reason:
    'Invalid command. Send {"do":"rest"}, {"do":"wake","revision_id":"..."}, {"do":"promote"} or {"do":"discard"}, on one line.',
};

test.each<[string, string, object[]]>([
  ['the rest command', '{"do":"rest"}', [{ event: 'idle' }]],
  ['the wake command', '{"do":"wake","revision_id":"r2"}', [{ event: 'serving' }]],
  ['the promote command', '{"do":"promote"}', [{ event: 'serving' }]],
  ['the discard command', '{"do":"discard"}', [{ event: 'discarded' }]],
  ['an empty line', ' ', []],
  ['a line that is not JSON', 'rest', [noCommand]],
  ['an unknown command', '{"do":"sleep"}', [noCommand]],
  ['a wake command without a revision', '{"do":"wake"}', [noCommand]],
  ['a command with an extra field', '{"do":"rest","now":true}', [noCommand]],
  ['a failing command', '{"do":"wake","revision_id":"serving"}', [{ event: 'failed', reason: 'already serving' }]],
])('answers %s on one line, and keeps reading', async (_, line, expected) => {
  const answers: CommandAnswer[] = [];
  const server = {
    rest: async () => undefined,
    endHold: async () => undefined,
    wake: async (revisionId: string) => {
      if (revisionId === 'serving') throw new Error('already serving');
    },
  };
  await takeCommands(Readable.from([`${line}\n{"do":"rest"}\n`]), server, (answer) => answers.push(answer));
  expect(answers).toEqual([...expected, { event: 'idle' }]);
});
