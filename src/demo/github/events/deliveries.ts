import { createHmac, randomUUID } from 'node:crypto';
import type { Clock } from '../../../clock.ts';
import type { JsonObject } from '../exchange.ts';

/** One attempt to deliver an event to the App. */
export interface Delivery {
  id: number;
  /** The same for every attempt to deliver one event. */
  guid: string;
  /** ms since the epoch */
  at: number;
  isAgain: boolean;
  event: string;
  action: string | null;
  installationId: number | null;
  repositoryId: number | null;
  url: string;
  request: { headers: Record<string, string>; payload: JsonObject };
  /** Set when it has ended. `statusCode` is 502 or 504 if there was no response. */
  response?: { status: string; statusCode: number; seconds: number; headers: Record<string, string>; payload: string };
}

/** The destination of deliveries, read at every delivery. */
export type Hook = () => { appId: number; secret: string; url: string | undefined };

/** GitHub waits this long for a response (ms), and does not retry by itself. */
const maxWaitMs = 10_000;

/** What was sent to the App, each attempt by itself, signed with its secret. */
export class Deliveries {
  readonly #hook: Hook;
  readonly #clock: Clock;
  readonly #all: Delivery[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #nextId = 1_000_001;

  constructor(hook: Hook, clock: Clock) {
    this.#hook = hook;
    this.#clock = clock;
  }

  /** Oldest first. */
  all(): readonly Delivery[] {
    return this.#all;
  }

  /** Sends an event. Undefined if the App has no webhook address: then GitHub stores nothing either. */
  send(
    event: string,
    payload: JsonObject,
    about: { installationId: number | null; repositoryId: number | null },
  ): Delivery | undefined {
    const { url } = this.#hook();
    if (url === undefined) return undefined;
    const action = typeof payload['action'] === 'string' ? payload['action'] : null;
    return this.#attempt({ guid: randomUUID(), isAgain: false, event, action, payload, url, ...about });
  }

  /** Delivers once more what a delivery held, under the same GUID. */
  again({ guid, event, action, installationId, repositoryId, request: { payload }, url }: Delivery): Delivery {
    const { url: now } = this.#hook();
    return this.#attempt({
      guid,
      isAgain: true,
      event,
      action,
      payload,
      url: now ?? url,
      installationId,
      repositoryId,
    });
  }

  /** Resolves when every delivery so far has been answered or given up. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #attempt({
    payload,
    ...rest
  }: Omit<Delivery, 'id' | 'at' | 'request' | 'response'> & { payload: JsonObject }): Delivery {
    const { appId, secret } = this.#hook();
    const body = JSON.stringify(payload);
    const sign = (kind: 'sha1' | 'sha256'): string => `${kind}=${createHmac(kind, secret).update(body).digest('hex')}`;
    const headers = {
      accept: '*/*',
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/demo',
      'x-github-delivery': rest.guid,
      'x-github-event': rest.event,
      'x-github-hook-id': String(appId),
      'x-github-hook-installation-target-id': String(appId),
      'x-github-hook-installation-target-type': 'integration',
      'x-hub-signature': sign('sha1'),
      'x-hub-signature-256': sign('sha256'),
    };
    const delivery: Delivery = { id: this.#nextId++, at: this.#clock.now(), ...rest, request: { headers, payload } };
    this.#all.push(delivery);
    const sending = this.#post(delivery, body).finally(() => this.#underWay.delete(sending));
    this.#underWay.add(sending);
    return delivery;
  }

  async #post(delivery: Delivery, body: string): Promise<void> {
    const { url, request, at } = delivery;
    const seconds = (): number => (this.#clock.now() - at) / 1000;
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: request.headers,
        body,
        redirect: 'manual',
        signal: AbortSignal.timeout(maxWaitMs),
      });
      const payload = await response.text();
      const { status: statusCode, statusText, ok } = response;
      const status = ok ? 'OK' : `Invalid HTTP Response: ${statusCode} ${statusText}`.trim();
      delivery.response = {
        status,
        statusCode,
        seconds: seconds(),
        headers: Object.fromEntries(response.headers),
        payload,
      };
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      const failed = isLate
        ? { status: 'timed out', statusCode: 504 }
        : { status: 'failed to connect to host', statusCode: 502 };
      delivery.response = { ...failed, seconds: seconds(), headers: {}, payload: '' };
    }
  }
}
