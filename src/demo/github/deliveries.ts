import { createHmac, randomUUID } from 'node:crypto';
import type { JsonObject } from './exchange.ts';

/** One attempt to deliver an event to the App. */
export interface Delivery {
  id: number;
  /** The same for every attempt to deliver one event. */
  guid: string;
  /** ms since the epoch */
  at: number;
  isRedelivery: boolean;
  event: string;
  action: string | null;
  installationId: number | null;
  repositoryId: number | null;
  url: string;
  payload: JsonObject;
  /** Set when the attempt has ended. `statusCode` is 502 or 504 if there was no response. */
  response?: { status: string; statusCode: number; seconds: number };
}

/** Where and with which secret the App receives webhooks. */
interface WebhookTarget {
  id: number;
  webhookSecret: string;
  webhookUrl: string | undefined;
}

/** GitHub waits this long for a response (ms), and does not retry by itself. */
const maxWaitMs = 10_000;

/** Sends webhooks to the App, signed with its secret, and records every attempt. */
export class Deliveries {
  /** Oldest first. */
  readonly all: Delivery[] = [];
  readonly #app: WebhookTarget;
  readonly #underWay = new Set<Promise<void>>();

  constructor(app: WebhookTarget) {
    this.#app = app;
  }

  /** Sends an event. Returns undefined if the App has no webhook address: GitHub records no delivery then either. */
  send(
    event: string,
    payload: JsonObject,
    scope: { installationId: number | null; repositoryId: number | null },
  ): Delivery | undefined {
    const url = this.#app.webhookUrl;
    if (url === undefined) return undefined;
    const action = typeof payload['action'] === 'string' ? payload['action'] : null;
    return this.#attempt({ guid: randomUUID(), isRedelivery: false, event, action, payload, url, ...scope });
  }

  /** Sends the event of a delivery again, under the same GUID. */
  redeliver(delivery: Delivery): Delivery {
    const { id: _, at: __, response: ___, ...original } = delivery;
    return this.#attempt({ ...original, isRedelivery: true, url: this.#app.webhookUrl ?? original.url });
  }

  /** Resolves when no delivery is in progress. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #attempt(event: Omit<Delivery, 'id' | 'at' | 'response'>): Delivery {
    const delivery: Delivery = { id: 1_000_001 + this.all.length, at: Date.now(), ...event };
    this.all.push(delivery);
    const sending = this.#post(delivery).finally(() => this.#underWay.delete(sending));
    this.#underWay.add(sending);
    return delivery;
  }

  async #post(delivery: Delivery): Promise<void> {
    const body = JSON.stringify(delivery.payload);
    const signature = createHmac('sha256', this.#app.webhookSecret).update(body).digest('hex');
    const headers = {
      accept: '*/*',
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/demo',
      'x-github-delivery': delivery.guid,
      'x-github-event': delivery.event,
      'x-github-hook-installation-target-id': String(this.#app.id),
      'x-github-hook-installation-target-type': 'integration',
      'x-hub-signature-256': `sha256=${signature}`,
    };
    const seconds = (): number => (Date.now() - delivery.at) / 1000;
    try {
      const signal = AbortSignal.timeout(maxWaitMs);
      const response = await fetch(delivery.url, { method: 'POST', headers, body, redirect: 'manual', signal });
      await response.text();
      const { status: statusCode, statusText, ok } = response;
      const status = ok ? 'OK' : `Invalid HTTP Response: ${statusCode} ${statusText}`.trim();
      delivery.response = { status, statusCode, seconds: seconds() };
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      const failure = isLate
        ? { status: 'timed out', statusCode: 504 }
        : { status: 'failed to connect to host', statusCode: 502 };
      delivery.response = { ...failure, seconds: seconds() };
    }
  }
}
