import { stackOf } from '../../../kit/errors.ts';
import { pause, setBackMs, withTimeout, type Clock } from '../../../kit/clock.ts';
import { isDatabaseUnavailable } from '../../../kit/postgres/unavailable.ts';
import { logFailure } from '../storage/poll.ts';
import type { Deliveries, Delivery } from './deliveries.ts';
import { parseWebhookTarget } from './parse-target.ts';
import { maxWaitMs, decideRetry, type AttemptOutcome } from './outcome.ts';
import { webhookPayload } from './payload.ts';
import { sendExternal, sendInternal, type Resolve } from './send.ts';
import type { WebhookSettings } from './settings.ts';
import type { Logger } from '../../../kit/logger.ts';

export interface DelivererDependencies {
  deliveries: Deliveries;
  settings: WebhookSettings;
  resolve: Resolve;
  /** The server's own routes, for loopback webhooks. */
  fetch: (request: Request) => Response | Promise<Response>;
  /** Additional headers of loopback webhooks. */
  ownHeaders: Readonly<Record<string, string>>;
  clock: Clock;
  log: Logger;
  /** Between 0 and 1. */
  chance: () => number;
  answerWithinMs?: number | undefined;
}

/** The same for every attempt of a webhook, so that its receiver can deduplicate (standardwebhooks.com). */
const webhookIdHeader = 'webhook-id';
const defaultTimeoutMs = 15_000;
/** How much longer (ms) than an attempt its claim lasts. */
const spareMs = 5_000;
/** The polling interval (ms) for webhooks of other processes; this process's own are notified at once. */
const lookMs = 5_000;
/** The limit of concurrent attempts, and the approximate limit per host: a slow host must not block others. */
const atOnce = 32;
const ofOneHost = 8;

/**
 * Delivers queued webhooks at least once each, independently of the runs. Each is tried until its receiver accepts or
 * rejects it, or the attempts are used up (`decideRetry`); the log reports those given up.
 */
export function webhookDeliverer({
  deliveries,
  settings,
  resolve,
  fetch,
  ownHeaders,
  clock,
  log,
  chance,
  answerWithinMs = defaultTimeoutMs,
}: DelivererDependencies) {
  const stop = new AbortController();
  const breakOff = new AbortController();
  const trying = new Map<Promise<void>, string>();
  let bell = new AbortController();
  /** When the next retry of this process is due, in milliseconds since the epoch. */
  let nextDue = Number.POSITIVE_INFINITY;
  /** The time (ms since the epoch) of the last look; before the first one the clock may have been set back. */
  let lookedAt = Infinity;
  let delivering = Promise.resolve();

  /** Notifies that there may be webhooks to deliver. */
  function ring(): void {
    bell.abort();
  }

  function begin(): void {
    delivering = keepDelivering();
  }

  async function keepDelivering(): Promise<void> {
    while (!stop.signal.aborted) {
      // Reset before polling, so that a notification during the poll triggers another one.
      bell = new AbortController();
      const isMore = await look().catch(logFailure(log, 'Polling for webhooks failed'));
      if (isMore) continue;
      await pause(clock, untilDue(), AbortSignal.any([bell.signal, stop.signal]));
    }
  }

  /** Delivers due webhooks within a bound (ms), and releases the rest. */
  async function end(withinMs: number): Promise<void> {
    stop.abort();
    const ended = new AbortController();
    void pause(clock, withinMs, ended.signal).then(() => breakOff.abort(new Error('The server stops.')));
    await delivering;
    while (!breakOff.signal.aborted) {
      const isMore = await look().catch(logFailure(log, 'Delivering the last webhooks failed'));
      if (!isMore) break;
      await Promise.all(trying.keys());
    }
    await Promise.all(trying.keys());
    ended.abort();
  }

  /** Starts attempts for due webhooks while there is room; returns whether there may be more. */
  async function look(): Promise<boolean> {
    const now = clock.now();
    const forMs = answerWithinMs + spareMs;
    if (now < lookedAt - setBackMs) {
      await deliveries.promote(now + maxWaitMs + forMs, now + forMs);
      nextDue = now;
    }
    lookedAt = now;
    const limit = Math.min(ofOneHost, atOnce - trying.size);
    if (limit <= 0) return false;
    const claimed = await deliveries.claim({ now, forMs, limit, notTo: busyHosts() });
    for (const delivery of claimed) {
      const attempted = attempt(delivery).finally(() => {
        trying.delete(attempted);
        ring();
      });
      trying.set(attempted, delivery.host);
    }
    if (claimed.length === limit) return true;
    if (nextDue <= now) nextDue = (await deliveries.nextAfter(now)) ?? Number.POSITIVE_INFINITY;
    return false;
  }

  function busyHosts(): string[] {
    const count = new Map<string, number>();
    for (const host of trying.values()) count.set(host, (count.get(host) ?? 0) + 1);
    return [...count].flatMap(([host, tries]) => (tries >= ofOneHost ? [host] : []));
  }

  /** Webhooks left at the last poll wait for room, so polling again at once is useless. Freeing a slot notifies. */
  function untilDue(): number {
    if (nextDue <= lookedAt) return lookMs;
    return Math.min(lookMs, Math.max(0, nextDue - clock.now()));
  }

  /** One attempt and its consequence. Never rejects: a claim whose outcome can't be stored expires, and is retried. */
  async function attempt(delivery: Delivery): Promise<void> {
    try {
      await recordAttempt(delivery, await attemptOnce(delivery));
    } catch (error) {
      if (!isDatabaseUnavailable(error))
        log.error(
          { runId: delivery.run_id },
          `The webhook of run ${delivery.run_id} could not be settled: ${stackOf(error)}`,
        );
    }
  }

  async function recordAttempt(delivery: Delivery, tried: AttemptOutcome): Promise<void> {
    if (tried.kind === 'failed' && breakOff.signal.aborted) return deliveries.giveBack(delivery, clock.now());
    const next = decideRetry(tried, delivery.attempts, chance());
    const to = delivery.host === '' ? 'the server itself' : delivery.host;
    if (next.kind === 'given-up')
      log.warn(
        { runId: delivery.run_id },
        `The webhook of run ${delivery.run_id} to ${to} is given up: it ${next.why}.`,
      );
    const last = { at: clock.now(), status: tried.status, reason: tried.kind === 'taken' ? undefined : tried.why };
    if (next.kind !== 'again') return deliveries.settle(delivery, next.kind === 'done' ? 'delivered' : 'failed', last);
    const at = clock.now() + next.inMs;
    await deliveries.putOff(delivery, at, last);
    nextDue = Math.min(nextDue, at);
  }

  async function attemptOnce(delivery: Delivery): Promise<AttemptOutcome> {
    const judged = parseWebhookTarget(delivery.url, settings.rules);
    if (judged.kind === 'refused') return { kind: 'refused', why: judged.why };
    const now = () => clock.now();
    const body = JSON.stringify(webhookPayload(delivery, now()));
    const headers = { ...settings.headers, 'content-type': 'application/json', [webhookIdHeader]: delivery.run_id };
    const send = (signal: AbortSignal): Promise<AttemptOutcome> => {
      const sending = { body, headers, signal, withinMs: answerWithinMs, now };
      if (judged.kind === 'outside') return sendExternal(judged, { ...sending, rules: settings.rules, resolve });
      return sendInternal(judged.path, fetch, { ...sending, headers: { ...headers, ...ownHeaders } });
    };
    return withTimeout(clock, answerWithinMs, send, breakOff.signal);
  }

  return { ring, begin, end };
}
export type Deliverer = ReturnType<typeof webhookDeliverer>;
