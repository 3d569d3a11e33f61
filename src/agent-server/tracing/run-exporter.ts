import { pause, type Clock } from '../../clock.ts';
import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';
import type { Outbox, PendingRun } from './outbox.ts';

/** Where runs that ended are told. */
export interface TracingOptions {
  /** The address that they are posted to. */
  url: string;
  /** Sent as a bearer token: a secret. */
  token: string;
}

export interface RunExporterSettings extends TracingOptions {
  outbox: Outbox;
  clock: Clock;
  log: (line: string) => void;
}

/** How often (ms) it is looked for runs that ended. */
const lookMs = 1_000;
/** How many are told at once. */
const atOnce = 100;
/** How long (ms) the other side may take to answer. */
const answerWithinMs = 10_000;
/** The longest wait (ms) after failures in a row. */
const longestWaitMs = 60_000;

/** What came of telling some runs. */
export type Reported =
  | { kind: 'taken' }
  /** They can never be taken as they are. */
  | { kind: 'refused'; why: string }
  /** There is nobody any more who would take any. */
  | { kind: 'gone' }
  /** Another time it may go better. */
  | { kind: 'away'; why: string };

/** What an answer to runs that were told means. */
export function meaningOf(status: number): Reported {
  if (status >= 200 && status < 300) return { kind: 'taken' };
  if (status === 404 || status === 410) return { kind: 'gone' };
  if (status === 400 || status === 413 || status === 422) return { kind: 'refused', why: `answered ${status}` };
  // A token that is not let in may be let in again after the next start of the service.
  return { kind: 'away', why: `answered ${status}` };
}

/**
 * Tells runs that ended, at least once each and in their order, for as long as it takes. No run waits for it: what it
 * tells lies in the outbox until it was taken.
 */
export class RunExporter {
  readonly #settings: RunExporterSettings;
  readonly #stop = new AbortController();
  #failures = 0;

  constructor(settings: RunExporterSettings) {
    this.#settings = settings;
  }

  /** Tells again and again until it is stopped. */
  async keepExporting(): Promise<void> {
    const { clock, log } = this.#settings;
    while (!this.#stop.signal.aborted) {
      await this.exportRuns().catch((error: unknown) => {
        this.#failures += 1;
        if (!isDatabaseUnavailable(error)) log(`Telling the tracing project of runs failed: ${String(error)}`);
      });
      const wait = this.#failures === 0 ? lookMs : Math.min(longestWaitMs, lookMs * 2 ** Math.min(this.#failures, 10));
      await pause(clock, wait, this.#stop.signal);
    }
  }

  /** Stops looking, and tells once more what has ended meanwhile, within a bound (ms). */
  async stop(withinMs: number): Promise<void> {
    this.#stop.abort();
    if (this.#failures > 0) return;
    const late = new AbortController();
    const bound = pause(this.#settings.clock, withinMs, late.signal);
    const last = this.exportRuns(late.signal).catch(() => undefined);
    await Promise.race([last, bound]);
    late.abort();
    await last;
  }

  /** Tells all that there is to be told, until there is none or it does not go well. */
  async exportRuns(signal?: AbortSignal): Promise<void> {
    const { outbox, log } = this.#settings;
    for (;;) {
      const unstated = await outbox.oldest(atOnce);
      if (unstated.length === 0 || signal?.aborted) return;
      const reported = await this.#send(unstated, signal);
      if (reported.kind === 'away') return this.#isAway(reported.why);
      if (reported.kind === 'gone') {
        log('The tracing project is gone; runs are not told any more.');
        return outbox.empty();
      }
      if (reported.kind === 'refused' && unstated.length > 1) await this.#oneByOne(unstated, signal);
      else await this.#settle(unstated, reported);
      if (this.#failures > 0) log('The tracing project is told of runs again.');
      this.#failures = 0;
    }
  }

  /** Of several that were refused together one is to blame, and the others shall not go with it. */
  async #oneByOne(unstated: readonly PendingRun[], signal: AbortSignal | undefined): Promise<void> {
    for (const each of unstated) {
      const reported = await this.#send([each], signal);
      if (reported.kind !== 'taken' && reported.kind !== 'refused') return;
      await this.#settle([each], reported);
    }
  }

  async #settle(unstated: readonly PendingRun[], reported: Reported): Promise<void> {
    const { outbox, log } = this.#settings;
    if (reported.kind === 'refused') log(`A run could not be told to the tracing project: it ${reported.why}.`);
    await outbox.forget(unstated.map(({ sequence }) => sequence));
  }

  async #isAway(why: string): Promise<void> {
    const { outbox, log } = this.#settings;
    this.#failures += 1;
    if (this.#failures === 1) log(`The tracing project could not be told of runs: it ${why}. Trying again.`);
    const given = await outbox.shorten();
    if (given > 0) log(`${given} runs are not told to the tracing project: too many waited for it.`);
  }

  async #send(unstated: readonly PendingRun[], signal: AbortSignal | undefined): Promise<Reported> {
    const { url, token, clock } = this.#settings;
    const late = new AbortController();
    const answered = new AbortController();
    void pause(clock, answerWithinMs, answered.signal).then(() => late.abort());
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ runs: unstated.map(({ run }) => run) }),
        redirect: 'error',
        signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
      });
      await answer.arrayBuffer();
      return meaningOf(answer.status);
    } catch (error) {
      // Whatever keeps an answer from coming: the runs stay, and are told another time.
      return { kind: 'away', why: `could not be reached (${error instanceof Error ? error.message : 'no answer'})` };
    } finally {
      answered.abort();
    }
  }
}
