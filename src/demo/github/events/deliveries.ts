import { createHmac, randomUUID } from 'node:crypto';
import type { Clock } from '../../../clock.ts';
import type { JsonObject } from '../exchange.ts';
import { accountAnswer, botOf, installationAnswer, personOf } from '../answers/accounts.ts';
import { repositoryAnswer } from '../answers/repositories.ts';
import { fullNameOf, type Repository } from '../repositories.ts';
import { administrator, installationOf, nodeId, type Site } from '../site.ts';

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

/** What an App that writes checks gets whatever it subscribed to. */
const ofChecks = /^(check_run\.(rerequested|requested_action)|check_suite\.(requested|rerequested))$/;

/** Sends an event of a repository to the App, if it is installed there and subscribes to such events. */
export async function deliver(
  site: Site,
  repository: Repository,
  event: string,
  payload: JsonObject,
  by?: string,
): Promise<Delivery | undefined> {
  const installation = installationOf(site, repository);
  const { action } = payload;
  const name = typeof action === 'string' ? `${event}.${action}` : event;
  const isWanted =
    site.app.events.includes(event) || (ofChecks.test(name) && site.app.permissions['checks'] === 'write');
  if (!installation || !isWanted) return undefined;
  const organization = organizationOf(site, repository);
  const whole = {
    ...payload,
    repository: payload['repository'] ?? (await repositoryAnswer(site, repository)),
    ...(organization === undefined ? {} : { organization }),
    sender: senderOf(site, by),
    installation: { id: installation.id, node_id: nodeId('Installation', installation.id) },
  };
  return site.deliveries.send(event, whole, { installationId: installation.id, repositoryId: repository.id });
}

/** The sender: the App's own bot, or a person; the administrator where none is named. */
function senderOf(site: Site, by: string | undefined): JsonObject {
  const bot = botOf(site);
  return accountAnswer(site, by === bot.login ? bot : personOf(site, by ?? administrator(site).login));
}

function organizationOf(site: Site, { owner }: Repository): JsonObject | undefined {
  const account = site.accounts.get(owner);
  if (account?.type !== 'Organization') return undefined;
  const url = `${site.url}/orgs/${owner}`;
  return {
    login: owner,
    id: account.id,
    node_id: nodeId('Organization', account.id),
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: `${site.url}/avatars/${owner}`,
    description: null,
  };
}

/** The few words by which installations name a repository. */
const briefRepository = (repository: Repository): JsonObject => ({
  id: repository.id,
  node_id: nodeId('Repository', repository.id),
  name: repository.name,
  full_name: fullNameOf(repository),
  private: repository.isPrivate,
});

/** Installs the App for all repositories of an owner, or takes it away, and delivers the event. */
export function changeInstallation(site: Site, owner: string, action: 'created' | 'deleted'): void {
  const installation = site.installations.find((each) => each.owner === owner);
  if (!installation) throw new Error(`there is no organization ${owner}`);
  installation.isInstalled = action === 'created';
  const own = site.repositories.all().filter((repository) => repository.owner === owner);
  const payload = {
    action,
    installation: { ...installationAnswer(site, installation), node_id: nodeId('Installation', installation.id) },
    repositories: own.map(briefRepository),
    requester: null,
    sender: senderOf(site, undefined),
  };
  site.deliveries.send('installation', payload, { installationId: installation.id, repositoryId: null });
}
