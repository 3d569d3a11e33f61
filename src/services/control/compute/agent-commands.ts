import type { Writable } from 'node:stream';
import * as z from 'zod';
import { fromJson } from '../../../kit/json-text.ts';

/** The agent server's response to a command (docs/design/agent-process.md#commands). */
const answerSchema = z.union([
  z.strictObject({ event: z.enum(['idle', 'serving', 'discarded']) }),
  z.strictObject({ event: z.literal('failed'), reason: z.string() }),
]);
type CommandAnswer = z.infer<typeof answerSchema>;

/** The commands that an agent's process accepts on its input. */
export type AgentCommand = { do: 'rest' | 'promote' | 'discard' } | { do: 'wake'; revision_id: string };

/** Sends commands to an agent's process, one at a time. */
export function agentCommands(input: Writable | null) {
  let waiting: ((answer: CommandAnswer) => void) | undefined;
  return {
    ask(command: AgentCommand): Promise<CommandAnswer> {
      const answer = new Promise<CommandAnswer>((resolve) => (waiting = resolve));
      if (!input?.writable) waiting?.({ event: 'failed', reason: 'its input is closed' });
      else input.write(`${JSON.stringify(command)}\n`);
      return answer;
    },
    isAnswer(line: string): boolean {
      const answer = waiting && line.startsWith('{') ? answerSchema.safeParse(fromJson(line)).data : undefined;
      if (!answer) return false;
      waiting?.(answer);
      waiting = undefined;
      return true;
    },
  };
}

/** The line that announces that an agent's process listens. */
const listening = z.object({ event: z.literal('listening') });

export const announcesListening = (line: string): boolean =>
  line.startsWith('{') && listening.safeParse(fromJson(line)).success;
