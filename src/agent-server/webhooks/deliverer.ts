import { pause, setBackMs, type Clock } from '../../clock.ts';
import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';
import type { Deliveries, Delivery } from './deliveries.ts';
import { judgeUrl } from './judge-url.ts';
import { LONGEST_WAIT_MS, nextAfter } from './outcome.ts';
import type { Tried } from './outcome.ts';
import { webhookPayload } from './payload.ts';
import { sendOutside, sendToItself, TooLate } from './send.ts';
import type { Resolve } from './send.ts';
import type { WebhookSettings } from './settings.ts';

/** What a deliverer works with. */
export interface DelivererParts {
  deliveries: Deliveries;
  settings: WebhookSettings;
  resolve: Resolve;
  /** The server's own routes, for calls to itself. */
  fetch: (request: Request) => Response | Promise<Response>;
  /** What a call to itself shows beside the configured headers. */
  ownHeaders: Readonly<Record<string, string>>;
  clock: Clock;
  log: (line: string) => void;
  /** Between 0 and 1. */
  chance: () => number;
  /** How long (ms) a try may take; 15,000 when absent. */
  answerWithinMs?: number | undefined;
}

/** How long (ms) a try may take, its name's resolution included. */
const ANSWER_WITHIN_MS = 15_000;
/** How much longer (ms) nobody else tries a delivery that is being tried. */
const SPARE_MS = 5_000;
/** How often (ms) it is looked for deliveries that other processes left: those of this process are told at once. */
const LOOK_MS = 5_000;
/** How many are tried at the same time, and how many of one host at most, or nearly: a host that hangs holds up no other. */
const AT_ONCE = 32;
const OF_ONE_HOST = 8;

/**
 * Delivers webhooks from the queue, at least once each, beside the runs: none waits for it. Each is tried until its receiver
 * took it, refused it, or failed too often (`nextAfter`); then it is forgotten, and the log says what was given up.
 */
export class Deliverer {
  readonly #parts: DelivererParts;
  readonly #answerWithinMs: number;
  readonly #stop = new AbortController();
  readonly #breakOff = new AbortController();
  readonly #trying = new Map<Promise<void>, string>();
  #bell = new AbortController();
  /** When one is due that was put off here, in milliseconds since the epoch. */
  #nextDue = Number.POSITIVE_INFINITY;
  /** When it was looked last, in milliseconds since the epoch. */
  /** When it was looked last; at the first look the clock may have been set back while nobody ran. */
  #lookedAt = Infinity;
  #delivering = Promise.resolve();

  constructor(parts: DelivererParts) {
    this.#parts = parts;
    this.#answerWithinMs = parts.answerWithinMs ?? ANSWER_WITHIN_MS;
  }

  /** Says that there may be something to deliver. */
  ring(): void {
    this.#bell.abort();
  }

  /** Delivers, from now on. */
  begin(): void {
    this.#delivering = this.#keepDelivering();
  }

  async #keepDelivering(): Promise<void> {
    const { clock, log } = this.#parts;
    while (!this.#stop.signal.aborted) {
      // Before the look: what is told while it goes on is looked for again.
      this.#bell = new AbortController();
      const isMore = await this.#look().catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) log(`Looking for webhooks to deliver failed: ${String(error)}`);
        return false;
      });
      if (isMore) continue;
      await pause(clock, this.#untilDue(), AbortSignal.any([this.#bell.signal, this.#stop.signal]));
    }
  }

  /** Delivers what has come up to now, within a bound (ms), and gives back what was not taken by then. */
  async end(withinMs: number): Promise<void> {
    const { clock, log } = this.#parts;
    this.#stop.abort();
    const ended = new AbortController();
    void pause(clock, withinMs, ended.signal).then(() => this.#breakOff.abort(new Error('The server stops.')));
    await this.#delivering;
    while (!this.#breakOff.signal.aborted) {
      const isMore = await this.#look().catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) log(`Delivering the last webhooks failed: ${String(error)}`);
        return false;
      });
      if (!isMore) break;
      await Promise.all(this.#trying.keys());
    }
    await Promise.all(this.#trying.keys());
    ended.abort();
  }

  /** Begins to try what is due, as far as there is room; whether there may be more. */
  async #look(): Promise<boolean> {
    const { deliveries, clock } = this.#parts;
    const now = clock.now();
    const forMs = this.#answerWithinMs + SPARE_MS;
    if (now < this.#lookedAt - setBackMs) {
      await deliveries.bringForward(now + LONGEST_WAIT_MS + forMs, now + forMs);
      this.#nextDue = now;
    }
    this.#lookedAt = now;
    const limit = Math.min(OF_ONE_HOST, AT_ONCE - this.#trying.size);
    if (limit <= 0) return false;
    const claimed = await deliveries.claim({ now, forMs, limit, notTo: this.#busyHosts() });
    for (const delivery of claimed) {
      const trying = this.#carryOut(delivery).finally(() => {
        this.#trying.delete(trying);
        this.ring();
      });
      this.#trying.set(trying, delivery.host);
    }
    if (claimed.length === limit) return true;
    if (this.#nextDue <= now) this.#nextDue = (await deliveries.nextAfter(now)) ?? Number.POSITIVE_INFINITY;
    return false;
  }

  #busyHosts(): string[] {
    const count = new Map<string, number>();
    for (const host of this.#trying.values()) count.set(host, (count.get(host) ?? 0) + 1);
    return [...count].flatMap(([host, tries]) => (tries >= OF_ONE_HOST ? [host] : []));
  }

  /** What was due at the last look and not taken waits for room: to look again at once would find none. Who makes room rings. */
  #untilDue(): number {
    if (this.#nextDue <= this.#lookedAt) return LOOK_MS;
    return Math.min(LOOK_MS, Math.max(0, this.#nextDue - this.#parts.clock.now()));
  }

  /** One try, and what follows from it. It never rejects: what the database does not hear is tried again by somebody. */
  async #carryOut(delivery: Delivery): Promise<void> {
    const { log } = this.#parts;
    try {
      const tried = await this.#try(delivery);
      await this.#settle(delivery, tried);
    } catch (error) {
      if (!isDatabaseUnavailable(error))
        log(`The webhook of run ${delivery.run_id} could not be settled: ${String(error)}`);
    }
  }

  async #settle(delivery: Delivery, tried: Tried): Promise<void> {
    const { deliveries, clock, log, chance } = this.#parts;
    if (tried.kind === 'failed' && this.#breakOff.signal.aborted) return deliveries.giveBack(delivery, clock.now());
    const next = nextAfter(tried, delivery.attempts, chance());
    const to = delivery.host === '' ? 'the server itself' : delivery.host;
    if (next.kind === 'given-up') log(`The webhook of run ${delivery.run_id} to ${to} is given up: it ${next.why}.`);
    if (next.kind !== 'again') return deliveries.forget(delivery);
    const at = clock.now() + next.inMs;
    await deliveries.putOff(delivery, at);
    this.#nextDue = Math.min(this.#nextDue, at);
  }

  async #try(delivery: Delivery): Promise<Tried> {
    const { settings, fetch, ownHeaders, resolve, clock } = this.#parts;
    const judged = judgeUrl(delivery.url, settings.rules);
    if (judged.kind === 'refused') return { kind: 'refused', why: judged.why };
    const late = new AbortController();
    const answered = new AbortController();
    void pause(clock, this.#answerWithinMs, answered.signal).then(() => late.abort(new TooLate(this.#answerWithinMs)));
    const signal = AbortSignal.any([late.signal, this.#breakOff.signal]);
    const now = () => clock.now();
    const body = JSON.stringify(webhookPayload(delivery, clock.now()));
    const headers = { ...settings.headers, 'content-type': 'application/json' };
    try {
      if (judged.kind === 'itself')
        return await sendToItself(judged.path, fetch, { body, headers: { ...headers, ...ownHeaders }, signal, now });
      return await sendOutside(judged, { body, headers, rules: settings.rules, resolve, signal, now });
    } finally {
      answered.abort();
    }
  }
}
