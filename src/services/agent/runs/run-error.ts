import type { FinalRunStatus, RunError } from '../../../contract/agent/run.ts';
import { cutText } from '../../../kit/plain-text.ts';
import { chainOf, messageOf } from '../../../kit/errors.ts';
import { DatabaseUnavailable } from '../storage/retry-policy.ts';
import { memberOf } from '../members.ts';
import { secretsIn } from '../environment.ts';
import { causesIn } from './error-causes.ts';
import { GraphFactoryError, type Graph } from '../graphs/graph.ts';
import { Refusal } from '../refusal.ts';

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

/** The longest that the API says of one cause, and of all causes of an error. */
const maxCauseLength = 1_000;
const maxCausesLength = 4_000;

/**
 * Describes a failure of a graph for the API: the type of the error, its message, in which its causes follow, and what is
 * known of them. The agent did not write its causes for callers, so they are without the secrets of its environment.
 */
export function describeError(
  thrown: unknown,
  env: Readonly<Record<string, string | undefined>> = process.env,
): RunError {
  const { error, message } = ownWords(thrown);
  const chain = shownChain(thrown);
  const causes = causesIn(chain, (each) => ownWords(each).error);
  return {
    error,
    message: [message, ...causeLines(message, chain.slice(1), env)].join('\n'),
    ...(causes.length === 0 ? {} : { causes }),
  };
}

/** The chain of causes, but for what caused the loss of the database: that has its address. */
function shownChain(thrown: unknown): unknown[] {
  const chain = chainOf(thrown);
  const hidden = chain.findIndex((each) => each instanceof DatabaseUnavailable);
  return hidden < 0 ? chain : chain.slice(0, hidden + 1);
}

/** A line for each cause that says anything new: many errors repeat what caused them. */
function causeLines(message: string, causes: readonly unknown[], env: Readonly<Record<string, string | undefined>>) {
  const said = [message];
  const lines = causes.flatMap((cause) => {
    const own = ownWords(cause);
    const words = own.message === '' || !(cause instanceof Error) ? wordsOf(cause) : own.message;
    if (said.some((each) => each.includes(words))) return [];
    said.push(words);
    return [`Caused by: ${own.error}: ${cutText(words, maxCauseLength)}`];
  });
  if (lines.length === 0) return [];
  return [cutText(secretsIn(env)(lines.join('\n')), maxCausesLength)];
}

/** What a cause says that has no message of its own, or is data. */
function wordsOf(cause: unknown): string {
  if (cause instanceof Error || typeof cause !== 'object') return messageOf(cause);
  const message = memberOf(cause, 'message');
  return typeof message === 'string' ? message : '';
}

/** The type of an error and its own message. */
function ownWords(thrown: unknown): { error: string; message: string } {
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

/** The graph; undefined if the agent's factory failed. */
export const ignoreFactoryError = (making: Promise<Graph>): Promise<Graph | undefined> =>
  making.catch((error: unknown) => {
    if (!(error instanceof GraphFactoryError)) throw error;
    return undefined;
  });

/** The graph. Throws Refusal 422 if the agent's factory failed; `source` names its configuration. */
export const refuseFactoryError = (making: Promise<Graph>, graphId: string, source: string): Promise<Graph> =>
  making.catch((thrown: unknown) => {
    if (!(thrown instanceof GraphFactoryError)) throw thrown;
    const { error, message } = describeError(thrown.cause);
    throw new Refusal(
      422,
      `Graph "${graphId}" can't be made with the configuration of ${source}: ${error}: ${message}`,
    );
  });
