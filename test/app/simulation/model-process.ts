import type { Clock } from '../../../src/kit/clock.ts';
import type { EventClock } from './event-clock.ts';
import { failureOf, type Faults, type Party, tookEffect } from './faults.ts';

/** How long a way takes there and back (ms); drawn anew for each call. */
const wayMs: Record<Party, number> = { store: 4, githubApi: 400, control: 600 };

/** Where a process is cut: at its `nth` call from now (from 1), before or after that call took effect. */
export interface Cut {
  nth: number;
  phase: 'before' | 'after';
  /** Only calls of this kind are counted. */
  operation?: string;
}

/**
 * A process of the App. All its dependencies go through it, so that it can be cut off anywhere: from then on none of
 * its calls returns and no line after them runs, not even a `finally`, as after a SIGKILL.
 */
export class ModelProcess {
  readonly name: string;
  isAlive = true;
  onDeath: () => void = () => undefined;
  readonly #clock: EventClock;
  readonly #faults: Faults;
  readonly #random: () => number;
  #cut: { cut: Cut; left: number; act: () => void } | undefined;
  /** Until when the process stands still (ms since the epoch). */
  #stillUntil = 0;

  constructor(name: string, clock: EventClock, faults: Faults, random: () => number) {
    this.name = name;
    this.#clock = clock;
    this.#faults = faults;
    this.#random = random;
  }

  /** Has the process die in the middle of what it will do. */
  cutAt(cut: Cut): void {
    this.#cut ??= { cut, left: cut.nth, act: () => this.die() };
  }

  /** Has the process stand still in the middle of what it will do, and go on `forMs` later. */
  stallAt(cut: Cut, forMs: number): void {
    this.#cut ??= {
      cut,
      left: cut.nth,
      act: () => {
        this.#stillUntil = this.#clock.now() + forMs;
      },
    };
  }

  die(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.onDeath();
  }

  /** Time as this process sees it. */
  clock(): Clock {
    return {
      now: () => this.#clock.now(),
      sleep: async (ms, signal) => {
        await this.#clock.sleep(ms, signal);
        await this.#goesOn();
      },
    };
  }

  /**
   * The same object, each of whose methods is a way there and back on which the process may die or the answer be lost.
   */
  reaching<T extends object>(party: Party, object: T): T {
    const reached = new Map<PropertyKey, unknown>();
    return new Proxy(object, {
      get: (target, name) => {
        if (reached.has(name)) return reached.get(name);
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        const through = (...given: unknown[]) =>
          this.#call(party, String(name), deadlineIn(given), () => Reflect.apply(member, target, given));
        reached.set(name, through);
        return through;
      },
    });
  }

  async #call(party: Party, operation: string, deadline: number, act: () => unknown): Promise<unknown> {
    await this.#goesOn();
    const cut = this.#cutOf(operation);
    const fault = this.#faults.next(party, operation);
    await this.#clock.sleep(this.#random() * wayMs[party]);
    if (cut?.cut.phase === 'before') cut.act();
    await this.#goesOn();
    // No client begins what it has no time left for.
    if (this.#clock.now() > deadline) throw failureOf(party, operation, 'refused', this.#clock.now());
    if (fault && !tookEffect(fault)) throw failureOf(party, operation, fault, this.#clock.now());
    const answer = await act();
    if (cut?.cut.phase === 'after') cut.act();
    await this.#goesOn();
    if (party !== 'store') await this.#clock.sleep(this.#random() * wayMs[party]);
    await this.#goesOn();
    if (fault) throw failureOf(party, operation, fault, this.#clock.now());
    return answer;
  }

  /** A named step of the App, at which the process may be cut, too. */
  async reach(step: string): Promise<void> {
    if (this.#cut?.cut.operation === step) this.#cutOf(step)?.act();
    await this.#goesOn();
  }

  /** The cut that this call is the one for. */
  #cutOf(operation: string): { cut: Cut; act: () => void } | undefined {
    const laid = this.#cut;
    if (!laid || (laid.cut.operation !== undefined && laid.cut.operation !== operation)) return undefined;
    laid.left -= 1;
    if (laid.left > 0) return undefined;
    this.#cut = undefined;
    return laid;
  }

  /** A process that stands still waits; a dead one goes no further: what waits here is never heard of again. */
  async #goesOn(): Promise<void> {
    if (this.#stillUntil > this.#clock.now()) await this.#clock.sleep(this.#stillUntil - this.#clock.now());
    if (!this.isAlive) await new Promise(() => undefined);
  }
}

/** The time (ms since the epoch) after which a call is not started, if its options name one. */
function deadlineIn(given: readonly unknown[]): number {
  const last = given.at(-1);
  const isOptions = typeof last === 'object' && last !== null && 'deadline' in last;
  return isOptions && typeof last.deadline === 'number' ? last.deadline : Infinity;
}
