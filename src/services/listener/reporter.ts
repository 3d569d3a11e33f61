import { pause, type Clock } from '../../kit/clock.ts';
import {
  maxReportedLines,
  type ClaimStanding,
  type ReportedLine,
  type ReportedStatus,
  type WorkReport,
} from '../../contract/control/listener-work.ts';
import { ServiceError } from '../../contract/service-error.ts';
import type { WriteLine } from '../control/compute/log-line.ts';
import { retryDelayMs } from './work-client.ts';

interface ReporterDependencies {
  send: (report: WorkReport) => Promise<ClaimStanding>;
  /** Aborts when the claim is lost: reports would be refused. */
  lost: AbortSignal;
  clock: Clock;
  random: () => number;
}

const gatherMs = 500;
/** How long to wait before lines are sent again that the service could not take. */
const retryMs = 5_000;
/** The most lines that are kept while the service is unavailable; the oldest are dropped, and counted. */
const maxHeld = 5_000;
const maxMessageLength = 8_000;

/** Reports progress to the service: batches of log lines in order, and finally the outcome. */
export function reporter({ send, lost, clock, random }: ReporterDependencies) {
  let held: ReportedLine[] = [];
  let sequence = 0;
  /** The number of the last line that the service has. */
  let received = 0;
  let gathering: Promise<void> | undefined;
  let isConcluded = false;
  let sending: Promise<unknown> = Promise.resolve();

  async function sendAll(status: ReportedStatus, message?: string): Promise<void> {
    for (;;) {
      const log = nextLines(held, received);
      const isLast = log.at(-1) === held.at(-1);
      await send({ status: isLast ? status : 'DEPLOYING', ...(isLast && message ? { message } : {}), log });
      received = log.at(-1)?.sequence ?? received;
      held = held.filter((line) => line.sequence > received);
      if (isLast) return;
    }
  }

  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const turn = sending.then(work);
    sending = turn.catch(() => undefined);
    return turn;
  }

  async function gather(waitMs: number): Promise<void> {
    await pause(clock, waitMs, lost);
    gathering = undefined;
    await inOrder(async () => {
      if (isConcluded || lost.aborted || held.length === 0) return;
      try {
        await sendAll('DEPLOYING');
      } catch (error) {
        if (!(error instanceof ServiceError) && !lost.aborted) throw error;
        // By time: no line may follow. The renewal notices that the claim has ended.
        if (!lost.aborted) gathering ??= gather(retryMs);
      }
    });
  }

  const write: WriteLine = (level, message) => {
    sequence += 1;
    held.push({ sequence, level, message, at: new Date(clock.now()).toISOString() });
    if (held.length > maxHeld) held = held.slice(-maxHeld);
    gathering ??= gather(gatherMs);
  };

  return {
    write,
    /** Reports the outcome after all lines before it, until that succeeds; false if it was rejected, or the claim ended. */
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
            if (!mayPass(error)) return false;
            await pause(clock, retryDelayMs(failures, random(), error.retryAfterMs), lost);
          }
        }
        return false;
      }),
  };
}

export type Reporter = ReturnType<typeof reporter>;

/** The lines to send next. Numbers have no gaps, so that the lines between the received and the held ones were dropped. */
function nextLines(held: readonly ReportedLine[], received: number): ReportedLine[] {
  const [first] = held;
  const missing = first ? first.sequence - received - 1 : 0;
  if (!first || missing <= 0) return held.slice(0, maxReportedLines);
  const message = `[${missing} lines left out: the control service could not be reached]`;
  const notice: ReportedLine = { ...first, sequence: first.sequence - 1, level: 'warning', message };
  return [notice, ...held.slice(0, maxReportedLines - 1)];
}

const mayPass = ({ kind }: ServiceError): boolean => kind === 'busy' || kind === 'unreachable' || kind === 'unreadable';
