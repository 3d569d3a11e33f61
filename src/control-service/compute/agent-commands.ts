import type { Writable } from 'node:stream';
import * as z from 'zod';
import { fromJson } from '../../contract/json-text.ts';

/** The agent server's response to a command (docs/design/agent-process.md#commands). */
const answerSchema = z.union([
  z.strictObject({ event: z.literal('idle') }),
  z.strictObject({ event: z.literal('serving') }),
  z.strictObject({ event: z.literal('failed'), reason: z.string() }),
]);
export type CommandAnswer = z.infer<typeof answerSchema>;

/** The commands that an agent's process accepts on its input. */
export type AgentCommand = { do: 'rest' } | { do: 'wake'; revision_id: string };

/** Sends commands to an agent's process, one at a time. */
export interface AgentCommands {
  ask(command: AgentCommand): Promise<CommandAnswer>;
  isAnswer(line: string): boolean;
}

export function agentCommands(input: Writable | null): AgentCommands {
  let waiting: ((answer: CommandAnswer) => void) | undefined;
  return {
    ask(command) {
      const answer = new Promise<CommandAnswer>((resolve) => (waiting = resolve));
      if (!input?.writable) waiting?.({ event: 'failed', reason: 'its input is closed' });
      else input.write(`${JSON.stringify(command)}\n`);
      return answer;
    },
    isAnswer(line) {
      const answer = waiting && readAnswer(line);
      if (!answer) return false;
      waiting?.(answer);
      waiting = undefined;
      return true;
    },
  };
}

const readAnswer = (line: string): CommandAnswer | undefined =>
  line.startsWith('{') ? answerSchema.safeParse(fromJson(line)).data : undefined;

/** The line that announces that an agent's process listens. */
const listening = z.object({ event: z.literal('listening') });

export const announcesListening = (line: string): boolean =>
  line.startsWith('{') && listening.safeParse(fromJson(line)).success;
