import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import * as z from 'zod';
import type { AgentServerProcess } from './server.ts';

/** What the process that started an agent server may ask of it, a line of JSON each; the end of the input is to leave. */
const Command = z.union([
  z.strictObject({ do: z.literal('rest') }),
  z.strictObject({ do: z.literal('wake'), revision_id: z.string() }),
]);

/** What is answered, a line each. */
export type CommandAnswer = { event: 'resting' } | { event: 'awake' } | { event: 'failed'; reason: string };

/**
 * Carries out what is asked on `input`, one thing after the other.
 *
 * @returns what resolves when nothing more can come.
 */
export async function takeCommands(
  input: Readable,
  server: Pick<AgentServerProcess, 'rest' | 'wake'>,
  answer: (answer: CommandAnswer) => void,
): Promise<void> {
  for await (const line of createInterface({ input })) {
    if (line.trim() === '') continue;
    try {
      const command = Command.parse(JSON.parse(line));
      if (command.do === 'rest') {
        await server.rest();
        answer({ event: 'resting' });
      } else {
        await server.wake(command.revision_id);
        answer({ event: 'awake' });
      }
    } catch (error) {
      answer({ event: 'failed', reason: error instanceof Error ? error.message : String(error) });
    }
  }
}
