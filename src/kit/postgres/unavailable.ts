import { type Clock, steadyNow, backoffMs } from '../clock.ts';
import { codeOf } from '../errors.ts';

/** SQLSTATEs of a server that is going, coming, or full. */
const goneStates = new Set(['57P01', '57P02', '57P03', '57P05', '53300', '25006']);

/** What the sockets and the driver say when there is no server at the other end. */
const goneCodes = new Set([
  'ECONNREFUSED',
  // A socket file of a server that is being started, or a queue of it that is full.
  'EAGAIN',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const goneWords =
  /connection terminated|timeout (exceeded )?when trying to connect|timeout expired|connection ended|connection error/i;

/**
 * Whether a server answered that it is not ready yet, is leaving, or is full: it is at this address, and waiting helps.
 * It is unknown whether an unresponsive server exists.
 */
export function isDatabaseStarting(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return goneStates.has(codeOf(error)) || isDatabaseStarting(error.cause);
}

/**
 * Whether an error means that the database can't be used at the moment, rather than that the query is wrong. Whether
 * the query was carried out is unknown.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.some(isDatabaseUnavailable)) return true;
  const code = codeOf(error);
  if (code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect') return true;
  if (goneCodes.has(code) || goneStates.has(code) || code.startsWith('08')) return true;
  return goneWords.test(error.message) || isDatabaseUnavailable(error.cause);
}

/** The server has given out all its connections, SQLSTATE 53300; the message says what to change. */
export class TooManyConnectionsError extends Error {
  readonly code = '53300';

  constructor(cause: Error) {
    super(
      `Postgres gives no further connection (${cause.message}). Raise max_connections of the server (100 unless set; ` +
        'the embedded one is fixed at that, so set DATABASE_URL to a larger server), or run fewer deployments: each agent takes 2.',
      { cause },
    );
    this.name = 'TooManyConnectionsError';
  }
}

/** Gives an error of connecting the words a person needs; other errors pass as they are. */
export function explainConnecting(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  return codeOf(error) === '53300' ? new TooManyConnectionsError(error) : error;
}

/**
 * Does what a start needs of its database, again while that is unavailable (`isPassing`). The work has to bear being
 * done twice. Throws the last error after `forMs` milliseconds, and any other error at once.
 */
export async function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  options: { clock: Clock; forMs?: number; isPassing?: (error: unknown) => boolean },
): Promise<T> {
  const { clock, forMs = 45_000, isPassing = isDatabaseUnavailable } = options;
  const until = steadyNow(clock) + forMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const wait = backoffMs(attempt, 50, 1_000);
      if (!isPassing(error) || steadyNow(clock) + wait > until) throw error;
      await clock.sleep(wait);
    }
  }
}

/** How long (ms) a message is not repeated. */
const every = 30_000;

/** Drops repetitions of a message, so that an hour without a database leaves a handful of lines. */
export function throttleMessages(report: (message: string) => void, clock: Clock): (message: string) => void {
  const reported = new Map<string, number>();
  return (message) => {
    const now = steadyNow(clock);
    for (const [old, at] of reported) if (now - at >= every) reported.delete(old);
    if (reported.has(message)) return;
    reported.set(message, now);
    report(message);
  };
}
