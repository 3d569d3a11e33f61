import { pause, type Clock } from '../../clock.ts';
import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';
import type { RunAccess } from '../auth/run-access.ts';
import { Refusal } from '../refusal.ts';
import type { Runs } from '../runs/runs.ts';
import { runOf, timingOf } from './cron-row.ts';
import type { StoredCron } from './cron-row.ts';
import { earlierThan, SET_BACK_MS, whatIsDue } from './due.ts';
import type { CronStore } from './store.ts';

/** How often (ms) a process looks for crons whose time has come: a run is late by this at most. */
const LOOK_MS = 1000;
/** How many are looked at in one go. */
const AT_ONCE = 100;
/** Later than the next run of any cron. */
const END_OF_TIME = new Date(8.64e15);
/**
 * How long (ms) a run that is refused is tried again, before its time is passed over: while two revisions serve, the
 * other one may have the graph that this one does not.
 */
const MAX_WAIT_MS = 30_000;

/** What the crons of a process work with. */
export interface FiringParts {
  store: Pick<CronStore, 'due' | 'moveOn'>;
  runs: Pick<Runs, 'startWithin'>;
  /** Undefined where the agent has no rules of access. */
  access?: Pick<RunAccess, 'asMaker'> | undefined;
  clock: Clock;
  log: (line: string) => void;
}

/**
 * Starts the runs of crons. Every process of a deployment looks; the one that moves a cron on writes its run in the same
 * transaction, so that each time makes one run, whatever happens in between.
 */
export class CronFiring {
  readonly #parts: FiringParts;
  readonly #stop = new AbortController();
  #firing: Promise<void> | undefined;
  /** When the last look was; the clock may have been set back before the first one. */
  #lookedAt = Infinity;

  constructor(parts: FiringParts) {
    this.#parts = parts;
  }

  /** Looks again and again from now on, until the end. */
  begin(): void {
    this.#firing ??= this.#keepLooking();
  }

  /** Starts no more runs; resolves once none is under way. */
  async end(): Promise<void> {
    this.#stop.abort();
    await this.#firing;
  }

  async #keepLooking(): Promise<void> {
    const { clock, log } = this.#parts;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.look().catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) log(`Looking for crons whose time has come failed: ${String(error)}`);
      });
      await pause(clock, LOOK_MS, signal);
    }
  }

  /** One look at all that are due: those that can't be fired now stand before others, and keep them from nothing. */
  async look(): Promise<void> {
    const now = this.#parts.clock.now();
    if (now < this.#lookedAt - SET_BACK_MS) await this.#each(END_OF_TIME, (cron) => this.#bringForward(cron, now));
    await this.#each(new Date(now), (cron) => this.#tryToFire(cron));
    this.#lookedAt = now;
  }

  /** Acts on every cron whose next run comes at that time or before, one after the other. */
  async #each(until: Date, act: (cron: StoredCron) => Promise<void>): Promise<void> {
    let crons: StoredCron[] = [];
    do {
      crons = await this.#parts.store.due(until, AT_ONCE, crons.at(-1));
      for (const cron of crons) {
        if (this.#stop.signal.aborted) return;
        await act(cron);
      }
    } while (crons.length === AT_ONCE);
  }

  async #bringForward(cron: StoredCron, now: number): Promise<void> {
    const { store, log } = this.#parts;
    const due = cron.next_run_date?.getTime() ?? now;
    const next = earlierThan(due, timingOf(cron), now);
    if (next === undefined || !(await store.moveOn(cron, next, async () => true))) return;
    log(`Cron ${cron.cron_id} runs next at ${new Date(next).toISOString()}: the clock was set back.`);
  }

  /** One cron that can't be fired does not keep the others from it. */
  async #tryToFire(cron: StoredCron): Promise<void> {
    const { store, clock, log } = this.#parts;
    const [now, due] = [clock.now(), cron.next_run_date?.getTime()];
    if (due === undefined) return;
    const { kind, next } = whatIsDue(timingOf(cron), due, now);
    const passOver = async (why: string): Promise<void> => {
      const passed = await store.moveOn(cron, next, async () => true);
      if (passed) log(`Cron ${cron.cron_id} starts no run for ${new Date(due).toISOString()}: ${why}`);
    };
    if (kind === 'astray')
      return passOver(
        `the time found to come after it is over as well. ` +
          (next === undefined ? 'No more runs come.' : `The next run comes at ${new Date(next).toISOString()}.`),
      );
    if (kind === 'passed-over') return passOver('it is over for too long to make up for it.');
    try {
      await this.#fire(cron, next);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      // A process that is about to leave takes no runs; another one does.
      if (error instanceof Refusal && error.status === 503) return;
      if (now - due >= MAX_WAIT_MS) await passOver(error instanceof Error ? error.message : String(error));
    }
  }

  async #fire(cron: StoredCron, next: number | undefined): Promise<void> {
    const { store, runs, access, log } = this.#parts;
    const threadId = cron.thread_id ?? undefined;
    const request = (await access?.asMaker(runOf(cron), threadId)) ?? runOf(cron);
    const started = await runs.startWithin(request, threadId, (begin) => store.moveOn(cron, next, begin));
    if (started?.kind === 'busy')
      log(`Cron ${cron.cron_id} starts no run: thread ${cron.thread_id} is busy, and its strategy is "reject".`);
  }
}
