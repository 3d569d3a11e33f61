import { sql } from 'kysely';
import { isObject } from '../../../kit/json-object.ts';
import { pause, type Clock, backoffMs, withTimeout } from '../../../kit/clock.ts';
import { messageOf } from '../../../kit/errors.ts';
import { logFailure } from '../storage/poll.ts';
import type { Storage } from '../storage/open.ts';
import type { Logger } from '../../../kit/logger.ts';

/** Where ended runs are exported. */
export interface TracingOptions {
  url: string;
  /** The bearer token: a secret. */
  token: string;
}

export interface RunExporterSettings extends TracingOptions {
  storage: Storage;
  clock: Clock;
  log: Logger;
}

const lookMs = 1_000;
/** The batch size: runs, and bytes of their inputs, outputs and steps. The service takes bodies of 1 MiB. */
const atOnce = 100;
const bytesAtOnce = 512 * 1024;
const answerWithinMs = 10_000;
/** The longest pause (ms) after consecutive failures. */
const maxWaitMs = 60_000;

/** The maximum size of the outbox: beyond it, the oldest runs are dropped. */
const maxPendingRuns = 10_000;
/** How many of them keep their inputs, outputs and steps while exports fail. */
const maxPendingDetails = 500;

/** An ended run to export: its payload as JSON. */
interface PendingRun {
  sequence: string;
  run: unknown;
  /** Its input, output and steps; null for a run of an earlier version. */
  detail: unknown;
}

/** The outcome of an export. */
export type ExportOutcome =
  | { kind: 'taken' }
  /** Permanently rejected as they are. */
  | { kind: 'refused'; why: string }
  /** The tracing project no longer exists. */
  | { kind: 'gone' }
  /** A temporary failure. */
  | { kind: 'away'; why: string };

/** Interprets the status of an export. */
export function toExportOutcome(status: number): ExportOutcome {
  if (status >= 200 && status < 300) return { kind: 'taken' };
  if (status === 404 || status === 410) return { kind: 'gone' };
  if (status === 400 || status === 413 || status === 422) return { kind: 'refused', why: `answered ${status}` };
  // A rejected token may be accepted after the next start of the service.
  return { kind: 'away', why: `answered ${status}` };
}

/** The newest run of the outbox but so many. */
const newestAfter = (count: number) =>
  sql<string>`(select sequence from trace_outbox order by sequence desc limit 1 offset ${count})`;

/** The oldest runs of the outbox, at least one, in their order, up to the bounds of a batch. */
async function oldestRuns({ db }: Storage): Promise<PendingRun[]> {
  // Reads no detail that is left for the next batch. An earlier version stored no sizes.
  const { rows } = await sql<PendingRun>`
    select sequence, run, detail from trace_outbox join (
      select sequence, sum(size) over (order by sequence) as bytes, row_number() over (order by sequence) as place
      from (
        select sequence, coalesce(detail_bytes, octet_length(detail::text), 0) as size
        from trace_outbox order by sequence limit ${atOnce}
      ) oldest
    ) counted using (sequence) where bytes <= ${bytesAtOnce} or place = 1 order by sequence`.execute(db);
  return rows;
}

const wholeRun = ({ run, detail }: PendingRun): unknown =>
  isObject(run) && isObject(detail) ? { ...run, ...detail } : run;

/**
 * Exports ended runs in order, at least once each, without end. No run waits for it: the statement that ends a run adds
 * it to the outbox, which all processes of a deployment share.
 */
export function runExporter({ url, token, storage, clock, log }: RunExporterSettings) {
  const stop = new AbortController();
  let failures = 0;
  let exporting = Promise.resolve();

  /** Exports until the end. */
  function begin(): void {
    exporting = keepExporting();
  }

  async function keepExporting(): Promise<void> {
    while (!stop.signal.aborted) {
      await exportRuns().catch((error: unknown) => {
        failures += 1;
        logFailure(log, 'Exporting runs to the tracing project failed')(error);
      });
      await pause(clock, backoffMs(failures + 1, lookMs, maxWaitMs), stop.signal);
    }
  }

  /** Stops polling after a last export within a bound (ms). */
  async function end(withinMs: number): Promise<void> {
    stop.abort();
    if (failures === 0) await withTimeout(clock, withinMs, exportRuns).catch(() => undefined);
    await exporting;
  }

  /** Exports until the outbox is empty or an export fails. */
  async function exportRuns(signal?: AbortSignal): Promise<void> {
    for (;;) {
      const pending = await oldestRuns(storage);
      if (pending.length === 0 || signal?.aborted) return;
      const outcome = await exportBatch(pending, signal);
      if (outcome.kind === 'away') return noteAway(outcome.why);
      if (outcome.kind === 'gone') {
        log.warn('The tracing project no longer exists. Runs are not exported any more.');
        await storage.db.deleteFrom('trace_outbox').execute();
        return;
      }
      if (failures > 0) log.info('Runs are exported to the tracing project again.');
      failures = 0;
    }
  }

  /** Exports a batch; a rejected one run by run, so that only the invalid run is dropped. */
  async function exportBatch(pending: readonly PendingRun[], signal: AbortSignal | undefined): Promise<ExportOutcome> {
    const outcome = await send(pending, signal);
    if (outcome.kind === 'refused' && pending.length > 1) {
      for (const run of pending) {
        const single = await exportBatch([run], signal);
        if (single.kind === 'away' || single.kind === 'gone') return single;
      }
      return { kind: 'taken' };
    }
    if (outcome.kind === 'taken' || outcome.kind === 'refused') await recordSent(pending, outcome);
    return outcome;
  }

  async function recordSent(pending: readonly PendingRun[], outcome: ExportOutcome): Promise<void> {
    if (outcome.kind === 'refused') log.error(`A run could not be exported to the tracing project: it ${outcome.why}.`);
    const sequences = pending.map(({ sequence }) => sequence);
    await storage.db.deleteFrom('trace_outbox').where('sequence', 'in', sequences).execute();
  }

  async function noteAway(why: string): Promise<void> {
    failures += 1;
    if (failures === 1) log.error(`Runs could not be exported to the tracing project: it ${why}. Retrying.`);
    const { numDeletedRows } = await storage.db
      .deleteFrom('trace_outbox')
      .where('sequence', '<=', newestAfter(maxPendingRuns))
      .executeTakeFirstOrThrow();
    await storage.db
      .updateTable('trace_outbox')
      .set({ detail: null, detail_bytes: null })
      .where('detail', 'is not', null)
      .where('sequence', '<=', newestAfter(maxPendingDetails))
      .execute();
    if (numDeletedRows > 0)
      log.warn(`Dropped ${numDeletedRows} runs that waited for the tracing project: its queue is full.`);
  }

  async function send(pending: readonly PendingRun[], signal: AbortSignal | undefined): Promise<ExportOutcome> {
    const post = async (inTime: AbortSignal): Promise<ExportOutcome> => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ runs: pending.map(wholeRun) }),
        redirect: 'error',
        signal: inTime,
      });
      await answer.arrayBuffer();
      return toExportOutcome(answer.status);
    };
    // Network failures and timeouts: the runs stay in the outbox.
    return withTimeout(clock, answerWithinMs, post, signal).catch((error: unknown) => ({
      kind: 'away',
      why: `could not be reached (${messageOf(error)})`,
    }));
  }

  return { begin, end, exportRuns };
}
