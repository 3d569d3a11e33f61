import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import * as z from 'zod';
import { fromJson } from '../../kit/json-text.ts';
import { messageOf } from '../../kit/errors.ts';
import type { AgentServerProcess } from './server.ts';

/** The commands of the parent process, one JSON line each; the end of the input means exit. */
const commandSchema = z.union([
  z.strictObject({ do: z.literal('rest') }),
  z.strictObject({ do: z.literal('wake'), revision_id: z.string() }),
  z.strictObject({ do: z.literal('promote') }),
  z.strictObject({ do: z.literal('discard') }),
]);

const noCommand =
  'Invalid command. Send {"do":"rest"}, {"do":"wake","revision_id":"..."}, {"do":"promote"} or {"do":"discard"}, on one line.';

/** The responses, one line each. */
export type CommandAnswer =
  { event: 'idle' } | { event: 'serving' } | { event: 'discarded' } | { event: 'failed'; reason: string };

/** Runs the commands on `input` one after the other, until the end of the input. */
export async function takeCommands(
  input: Readable,
  server: Pick<AgentServerProcess, 'rest' | 'wake' | 'endHold'>,
  answer: (answer: CommandAnswer) => void,
): Promise<void> {
  for await (const line of createInterface({ input })) {
    if (line.trim() === '') continue;
    const command = commandSchema.safeParse(fromJson(line)).data;
    if (!command) {
      answer({ event: 'failed', reason: noCommand });
      continue;
    }
    try {
      if (command.do === 'rest') {
        await server.rest();
        answer({ event: 'idle' });
      } else if (command.do === 'promote' || command.do === 'discard') {
        await server.endHold(command.do);
        answer({ event: command.do === 'promote' ? 'serving' : 'discarded' });
      } else {
        await server.wake(command.revision_id);
        answer({ event: 'serving' });
      }
    } catch (error) {
      answer({ event: 'failed', reason: messageOf(error) });
    }
  }
}
