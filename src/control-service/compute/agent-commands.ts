import type { Writable } from 'node:stream';
import * as z from 'zod';

/** What an agent server answers to a command (its room's README, Commands). */
const Answer = z.union([
  z.strictObject({ event: z.literal('idle') }),
  z.strictObject({ event: z.literal('serving') }),
  z.strictObject({ event: z.literal('failed'), reason: z.string() }),
]);
export type CommandAnswer = z.infer<typeof Answer>;

/** What may be asked of an agent's process over its input. */
export type AgentCommand = { do: 'rest' } | { do: 'wake'; revision_id: string };

/** The way to ask something of an agent's process: one thing at a time. */
export interface AgentCommands {
  /** Asks, and waits for the answer; whoever asks bounds the wait. */
  ask(command: AgentCommand): Promise<CommandAnswer>;
  /** Looks at a line of the process's output: whether it is the answer that is waited for. */
  isAnswer(line: string): boolean;
}

/** Makes the way over a process's input. */
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

function readAnswer(line: string): CommandAnswer | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return Answer.safeParse(JSON.parse(line)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
