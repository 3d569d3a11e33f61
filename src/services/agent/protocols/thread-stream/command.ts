import type { CommandError, CommandResponse, ThreadEventFilter } from '../../../../contract/agent/thread-stream.ts';
import { Refusal } from '../../refusal.ts';
import type { InternalApi } from '../internal-api.ts';
import type { ThreadEventStore } from './store.ts';

export interface CommandContext {
  /** The server's own operations, as the caller. */
  api: InternalApi;
  store: ThreadEventStore;
  threadId: string;
  /** The subscriptions of the connection; absent where commands come by plain requests. */
  subscriptions?: {
    count(): number;
    /** @returns the id of the new subscription. */
    add(filter: ThreadEventFilter): string;
    /** @returns whether there was one with this id. */
    remove(id: string): boolean;
  };
}

/** A command that is refused: reported in its response, not by an HTTP status. */
export class CommandRefusal extends Error {
  readonly code: CommandError;

  constructor(code: CommandError, message: string) {
    super(message);
    this.code = code;
  }
}

/** What a command is refused for; undefined if the error is no mistake of the command. */
export function refusalOf(error: unknown): Pick<CommandRefusal, 'code' | 'message'> | undefined {
  if (error instanceof CommandRefusal) return error;
  if (!(error instanceof Refusal) || error.status >= 500) return undefined;
  const isDenied = error.status === 401 || error.status === 403;
  return { code: isDenied ? 'permission_denied' : 'invalid_argument', message: error.message };
}

export const commandError = (id: number | null, error: CommandError, message: string): CommandResponse => ({
  type: 'error',
  id,
  error,
  message,
});
