import { pause, type Clock } from '../../kit/clock.ts';
import {
  maxReportedLines,
  type ClaimStanding,
  type ReportedLine,
  type ReportedStatus,
  type WorkReport,
} from '../../contract/control/listener-work.ts';
import { isTransient, ServiceError } from '../../contract/service-error.ts';
import type { WriteLine } from '../control/compute/log-line.ts';
import { retryDelayMs } from './work-client.ts';

interface ReporterDependencies {
  send: (report: WorkReport) => Promise<ClaimStanding>;
  /** Aborts when the claim is lost: reports would be refused. */
  lost: AbortSignal;
  clock: Clock;
  random: () => number;
}

const batchMs = 500;
/** How long to wait before lines that the service could not receive are sent again. */
const retryMs = 5_000;
/** The most lines that are buffered while the service is unavailable; beyond it the oldest are dropped, and counted. */
const maxBufferedLines = 5_000;
const maxMessageLength = 8_000;

/** Reports progress to the service: batches of log lines in order, and finally the outcome. */
export function createReporter({ send, lost, clock, random }: ReporterDependencies) {
  let buffer: ReportedLine[] = [];
  let sequence = 0;
  /** The number of the last line that the service has. */
  let received = 0;
  let scheduledSend: Promise<void> | undefined;
  let isConcluded = false;
  let lastSend: Promise<unknown> = Promise.resolve();

  async function sendAll(status: ReportedStatus, message?: string): Promise<void> {
    for (;;) {
      const log = nextLines(buffer, received);
      const isLast = log.at(-1) === buffer.at(-1);
      await send({ status: isLast ? status : 'DEPLOYING', ...(isLast && message ? { message } : {}), log });
      received = log.at(-1)?.sequence ?? received;
      buffer = buffer.filter((line) => line.sequence > received);
      if (isLast) return;
    }
  }

  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const turn = lastSend.then(work);
    lastSend = turn.catch(() => undefined);
    return turn;
  }

  async function sendAfter(waitMs: number): Promise<void> {
    await pause(clock, waitMs, lost);
    scheduledSend = undefined;
    await inOrder(async () => {
      if (isConcluded || lost.aborted || buffer.length === 0) return;
      try {
        await sendAll('DEPLOYING');
      } catch (error) {
        if (!(error instanceof ServiceError) && !lost.aborted) throw error;
        // Retry by a timer, because there may be no further line. The renewal notices the end of the claim.
        if (!lost.aborted) scheduledSend ??= sendAfter(retryMs);
      }
    });
  }

  const write: WriteLine = (level, message) => {
    sequence += 1;
    buffer.push({ sequence, level, message, at: new Date(clock.now()).toISOString() });
    if (buffer.length > maxBufferedLines) buffer = buffer.slice(-maxBufferedLines);
    scheduledSend ??= sendAfter(batchMs);
  };

  return {
    write,
    /** Reports the outcome after all lines, and retries until it succeeds. False if it was rejected, or the claim ended. */
    conclude: (status: ReportedStatus, message?: string): Promise<boolean> =>
      inOrder(async () => {
        isConcluded = true;
        for (let failures = 1; !lost.aborted; failures += 1) {
          try {
            await sendAll(status, message?.slice(0, maxMessageLength));
            return true;
          } catch (error) {
            if (lost.aborted) return false;
            if (!(error instanceof ServiceError)) throw error;
            if (!isTransient(error)) return false;
            await pause(clock, retryDelayMs(failures, random(), error.retryAfterMs), lost);
          }
        }
        return false;
      }),
  };
}

export type Reporter = ReturnType<typeof createReporter>;

/** The lines to send next. Numbers have no gaps: lines between the last received and the first buffered were dropped. */
function nextLines(held: readonly ReportedLine[], received: number): ReportedLine[] {
  const [first] = held;
  const droppedCount = first ? first.sequence - received - 1 : 0;
  if (!first || droppedCount <= 0) return held.slice(0, maxReportedLines);
  const message = `[${droppedCount} lines left out: the control service could not be reached]`;
  const notice: ReportedLine = { ...first, sequence: first.sequence - 1, level: 'warning', message };
  return [notice, ...held.slice(0, maxReportedLines - 1)];
}
