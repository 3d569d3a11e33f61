import type { FinalRunStatus } from '../../contract/agent/run.ts';
import type { RunEnd } from './run-row.ts';

/** Why a run was stopped from outside; `released`: for another process to continue; `taken`: another process has it. */
export type StopReason = 'cancelled' | 'rolled-back' | 'caller-gone' | 'timed-out' | 'shutdown' | 'released' | 'taken';

/** The name of the error of a cancelled run. */
export const cancelledError = 'RunCancelled';

/** Whether an error is that of a cancelled run, and no graph's own one of that name. */
export const isCancellation = ({ error, message }: { error: string; message: string }): boolean =>
  error === cancelledError && message.startsWith(words.cancelled.message.slice(0, -1));

const words: Record<StopReason, { error: string; message: string }> = {
  cancelled: { error: cancelledError, message: 'The run was cancelled.' },
  'rolled-back': { error: cancelledError, message: 'The run was cancelled and what it did was undone.' },
  'caller-gone': { error: cancelledError, message: 'The run was cancelled because its caller went away.' },
  'timed-out': { error: 'TimeoutError', message: 'The run took longer than a run may take on this server.' },
  shutdown: { error: 'ServerStopped', message: 'The server stopped before the run had ended.' },
  released: { error: 'ServerStopped', message: 'The server stopped; another process goes on with the run.' },
  taken: { error: 'ServerStopped', message: 'Another process goes on with the run.' },
};

/** The abort reason of a run's signal. */
export class RunStopped extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason, message: string = words[reason].message) {
    super(message);
    this.name = words[reason].error;
    this.reason = reason;
  }
}

/** The final status of a run that threw this, or nothing. */
export function statusOf(thrown: unknown): FinalRunStatus {
  if (thrown === undefined) return 'success';
  if (!(thrown instanceof RunStopped)) return 'error';
  return thrown.reason === 'timed-out' ? 'timeout' : 'interrupted';
}

/** Describes a failure of a graph for the API: the type of the error and its message. */
export function describeError(thrown: unknown): NonNullable<RunEnd['error']> {
  if (!(thrown instanceof Error))
    return { error: 'Error', message: typeof thrown === 'string' ? thrown : `Threw ${typeof thrown}` };
  // At run time these may be of any type.
  const [name, message]: unknown[] = [thrown.name, thrown.message];
  const named: unknown = name !== '' && name !== 'Error' ? name : thrown.constructor.name;
  return {
    error: typeof named === 'string' && named !== '' ? named : 'Error',
    message: typeof message === 'string' ? message : `Threw an error whose message is of type ${typeof message}`,
  };
}
