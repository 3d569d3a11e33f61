import type { Writable } from 'node:stream';
import * as z from 'zod';
import { fromJson } from '../../../kit/json-text.ts';

/** The agent server's response to a command (docs/design/agent-process.md#commands). */
const responseSchema = z.union([
  z.strictObject({ event: z.enum(['idle', 'serving', 'discarded']) }),
  z.strictObject({ event: z.literal('failed'), reason: z.string() }),
]);
type CommandResponse = z.infer<typeof responseSchema>;

/** The commands that an agent's process accepts on its input. */
export type AgentCommand = { do: 'rest' | 'promote' | 'discard' } | { do: 'wake'; revision_id: string };

/** Sends commands to an agent's process, one at a time. */
export function agentCommands(input: Writable | null) {
  let resolveResponse: ((response: CommandResponse) => void) | undefined;
  return {
    send(command: AgentCommand): Promise<CommandResponse> {
      const response = new Promise<CommandResponse>((resolve) => (resolveResponse = resolve));
      if (!input?.writable) resolveResponse?.({ event: 'failed', reason: 'its input is closed' });
      else input.write(`${JSON.stringify(command)}\n`);
      return response;
    },
    /** Whether a line of the output is the response to the pending command, which it then resolves. */
    acceptResponse(line: string): boolean {
      const response =
        resolveResponse && line.startsWith('{') ? responseSchema.safeParse(fromJson(line)).data : undefined;
      if (!response) return false;
      resolveResponse?.(response);
      resolveResponse = undefined;
      return true;
    },
  };
}

/** The line that announces that an agent's process listens. */
const listeningEvent = z.object({ event: z.literal('listening') });

export const announcesListening = (line: string): boolean =>
  line.startsWith('{') && listeningEvent.safeParse(fromJson(line)).success;
