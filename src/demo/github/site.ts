import type { Clock } from '../../clock.ts';
import type { Account } from './answers/accounts.ts';
import type { Checks } from './answers/checks.ts';
import type { DeploymentRecords } from './answers/deployments.ts';
import type { Deliveries } from './events/deliveries.ts';
import type { RefChange } from './events/push-events.ts';
import type { Emulated } from './emulated.ts';
import { notFound, Refusal, type Answer, type ApiCall, type Exchange, type JsonObject, type Who } from './exchange.ts';
import { isObject } from '../../contract/json-object.ts';
import { fullNameOf, type Repositories, type Repository } from './repositories.ts';

/** The App as GitHub knows it. */
export interface AppRecord {
  id: number;
  slug: string;
  name: string;
  clientId: string;
  privateKey: string;
  webhookSecret: string;
  /** The destination of webhooks; undefined before it is set. */
  webhookUrl: string | undefined;
  permissions: Readonly<Record<string, string>>;
  events: readonly string[];
  createdAt: string;
}

export interface Installation {
  id: number;
  owner: string;
  /** Whether the App was installed: an id is kept ready for every owner. */
  isInstalled: boolean;
}

/** A token of an installation, as it was given out. */
export interface GivenToken {
  installationId: number;
  permissions: Readonly<Record<string, string>>;
  /** The repositories that it is for, where it was made for some only. */
  repositoryIds?: ReadonlySet<number>;
  /** ms since the epoch */
  expiresAt: number;
}

/** Answers the requests of one operation. */
export type Handler = (call: ApiCall, site: Site) => Promise<Answer>;

/** An operation of the API; the template is GitHub's spelling of its path. */
export type Operation = readonly [method: string, template: string, handler: Handler];

/** What tests add: features of GitHub that the demo does not show, and a look at the requests. */
export interface Extension {
  operations?: readonly Operation[];
  /** Carries out a request. */
  around<T>(act: () => Promise<T>): Promise<T>;
  /** Replaces an answer, loses it after its effect, or closes the connection before it. */
  interfere?(call: ApiCall): Answer | 'lose' | 'close' | undefined;
  answered?(exchange: Exchange): void;
  /** Called when a branch was pushed to, after its own events. */
  pushed?(site: Site, repository: Repository, branch: string, change: RefChange, by?: string): Promise<void>;
}

/** The state of the gateway, passed to all handlers. */
export interface Site {
  url: string;
  clock: Clock;
  app: AppRecord;
  installations: Installation[];
  /** Tokens of installations by the token. */
  tokens: Map<string, GivenToken>;
  /** Tokens of people by their login; the first is the administrator. */
  people: ReadonlyMap<string, string>;
  /** People and organizations by login. */
  accounts: ReadonlyMap<string, Account>;
  repositories: Repositories;
  emulated: Emulated;
  deliveries: Deliveries;
  checks: Checks;
  deployments: DeploymentRecords;
  extension: Extension;
}

/** The repository of a path; a 404 if there is none, or it is private and not visible to the caller. */
export function repositoryFor(site: Site, params: Readonly<Record<string, string>>, who: Who): Repository {
  const repository = site.repositories.byName(`${params['owner']}/${params['repo']}`);
  if (!repository || !maySee(site, repository, who)) throw notFound();
  return repository;
}

function maySee(site: Site, repository: Repository, who: Who): boolean {
  if (!repository.isPrivate) return true;
  if (who.kind === 'installation') return reaches(who, repository);
  return who.kind === 'person' && who.login === administrator(site).login;
}

/**
 * Identifies the caller by the Authorization header: the App by its signed token, an installation, a person. The App's
 * signature is checked by the emulated GitHub, which holds the key.
 *
 * @throws Refusal 401 where the header is of no known caller.
 */
export async function identify(site: Site, authorization: string | undefined): Promise<Who> {
  if (authorization === undefined) return { kind: 'anonymous' };
  const token = authorization.replace(/^(bearer|token)\s+/i, '').trim();
  if (token.startsWith('eyJ')) {
    const { status } = await site.emulated.ask('GET', '/app', authorization);
    if (status === 200) return { kind: 'app' };
    throw new Refusal(401, 'A JSON web token could not be decoded');
  }
  const who = whoseToken(site, token);
  if (!who) throw new Refusal(401, 'Bad credentials');
  return who;
}

/** Who a token belongs to; undefined for one that is unknown, has run out, or whose installation is gone. */
export function whoseToken(site: Site, token: string): Who | undefined {
  for (const [login, known] of site.people) {
    if (known === token) return { kind: 'person', login, token };
  }
  const given = site.tokens.get(token);
  if (!given || given.expiresAt <= site.clock.now()) return undefined;
  const installation = site.installations.find(({ id }) => id === given.installationId);
  if (!installation?.isInstalled) return undefined;
  const { installationId, permissions, repositoryIds } = given;
  return {
    kind: 'installation',
    installationId,
    owner: installation.owner,
    permissions,
    ...(repositoryIds ? { repositoryIds } : {}),
    token,
  };
}

/** Whether a token of an installation is for this repository. */
export const reaches = (who: Who, repository: Repository): boolean =>
  who.kind === 'installation' &&
  who.owner.toLowerCase() === repository.owner.toLowerCase() &&
  (who.repositoryIds?.has(repository.id) ?? true);

/** Whether a caller was given what a request takes. What people may do is the emulated GitHub's to judge. */
export function isGranted(who: Who, repository: Repository, permission: string, level: 'read' | 'write'): boolean {
  const isPublicRead = level === 'read' && !repository.isPrivate;
  if (who.kind !== 'installation') return who.kind === 'person' || (who.kind === 'anonymous' && isPublicRead);
  const given = who.permissions[permission];
  const suffices = given === 'write' || given === 'admin' || (level === 'read' && given === 'read');
  return isPublicRead || (suffices && reaches(who, repository));
}

/** Refuses what a caller was not given. */
export function demand(who: Who, repository: Repository, permission: string, level: 'read' | 'write'): void {
  if (isGranted(who, repository, permission, level)) return;
  throw who.kind === 'anonymous'
    ? new Refusal(401, 'Requires authentication')
    : new Refusal(403, 'Resource not accessible by integration');
}

/** The installation that covers a repository, where the App is installed there. */
export const installationOf = (site: Site, { owner }: Pick<Repository, 'owner'>): Installation | undefined =>
  site.installations.find((each) => each.isInstalled && each.owner.toLowerCase() === owner.toLowerCase());

/** The person whose token the gateway itself uses. */
export function administrator(site: Site): { login: string; authorization: string } {
  const [first] = site.people;
  if (!first) throw new Error('the demo of GitHub has no people');
  return { login: first[0], authorization: `token ${first[1]}` };
}

/**
 * Calls the emulated GitHub as its administrator, or as another person.
 *
 * @throws Error with the request if the response is no success.
 */
export async function askEmulated(
  site: Site,
  method: string,
  path: string,
  body?: JsonObject,
  login?: string,
): Promise<unknown> {
  const token = login === undefined ? undefined : site.people.get(login);
  const authorization = token === undefined ? administrator(site).authorization : `token ${token}`;
  const answer = await site.emulated.ask(method, path, authorization, body);
  if (answer.status >= 300) throw new Error(`emulate answered ${method} ${path} with ${answer.status}`);
  return answer.body;
}

/** What `askEmulated` answered, where it is an object. */
export async function objectFromEmulated(
  site: Site,
  method: string,
  path: string,
  body?: JsonObject,
  login?: string,
): Promise<JsonObject> {
  const answer = await askEmulated(site, method, path, body, login);
  return isObject(answer) ? answer : {};
}

export const repositoryUrl = (site: Pick<Site, 'url'>, repository: Repository): string =>
  `${site.url}/repos/${fullNameOf(repository)}`;

export const webUrl = (site: Pick<Site, 'url'>, repository: Repository): string =>
  `${site.url}/${fullNameOf(repository)}`;

/** Now, in GitHub's spelling: seconds, Z. */
export const isoNow = ({ clock }: Pick<Site, 'clock'>): string => iso(clock.now());

/** @param at ms since the epoch */
export const iso = (at: number): string => new Date(at).toISOString().replace(/\.\d{3}Z$/, 'Z');

/** An instant as GitHub spells it, whatever offset it was committed with. */
export const utc = (date: string): string => iso(Date.parse(date));

/** An id as GitHub's old ones looked: of no meaning to anybody else. */
export const nodeId = (type: string, id: number | string): string =>
  Buffer.from(`0:${type}${id}`).toString('base64url');
