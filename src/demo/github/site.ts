import { isObject } from '../../kit/json-object.ts';
import type { Deliveries } from './deliveries.ts';
import type { Emulated } from './emulated.ts';
import {
  notFound,
  Refusal,
  type ApiResponse,
  type ApiCall,
  type Exchange,
  type JsonObject,
  type Caller,
} from './exchange.ts';

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

/** A repository: its bare git repository on disk, and what GitHub knows of it. */
export interface Repository {
  id: number;
  owner: string;
  name: string;
  isPrivate: boolean;
  defaultBranch: string;
  /** The bare repository. */
  folder: string;
}

/** A person, an organization or the App's own bot. */
export interface Account {
  login: string;
  id: number;
  type: 'User' | 'Organization' | 'Bot';
}

/** What GitHub keeps of a check run and the emulated one does not. */
export interface CheckRecord {
  repositoryId: number;
  sha: string;
  /** Identifiers of its buttons. */
  buttons: string[];
  annotations: JsonObject[];
}

/** One GitHub Deployment, as GitHub shows it, with its statuses, oldest first. */
export interface DeploymentRecord {
  repositoryId: number;
  shown: JsonObject;
  statuses: JsonObject[];
}

/** What a push did to one ref. */
export interface RefChange {
  ref: string;
  /** Forty zeros where there was none, or is none any more. */
  before: string;
  after: string;
}

/** Answers the requests of one operation. */
export type Handler = (call: ApiCall, site: Site) => Promise<ApiResponse>;

/** An operation of the API; the template is GitHub's spelling of its path. */
export type Operation = readonly [method: string, template: string, handler: Handler];

type Level = 'read' | 'write';

/** What tests add: features of GitHub that the demo does not show, and a look at the requests. */
export interface Extension {
  /** They count before those of the demo. */
  operations?: readonly Operation[];
  /** Carries out a request. */
  around<T>(act: () => Promise<T>): Promise<T>;
  /** The path that is meant by the path of a request. */
  located?(path: string): string;
  /** Replaces an answer, loses it after its effect, or closes the connection before it. */
  interfere?(call: ApiCall): ApiResponse | 'lose' | 'close' | undefined;
  answered?(exchange: Exchange): void;
  /** Whether a caller may do something in a repository. Here everybody may read, and everybody who is known may write. */
  permits?(who: Caller, repository: Repository, permission: string, level: Level): Promise<boolean>;
  /** Called when a branch was pushed to, after its own events. */
  pushed?(site: Site, repository: Repository, branch: string, change: RefChange, by?: string): Promise<void>;
}

/** The state of the gateway, passed to all handlers. */
export interface Site {
  url: string;
  /** Holds the bare repositories. */
  folder: string;
  app: AppRecord;
  installations: Installation[];
  /** Whose each token of an installation is. */
  tokens: Map<string, Installation>;
  /** Tokens of people by their login. */
  people: ReadonlyMap<string, string>;
  /** The login of the person whose token the gateway itself uses. */
  administrator: string;
  /** People and organizations by login. */
  accounts: ReadonlyMap<string, Account>;
  repositories: Repository[];
  emulated: Emulated;
  deliveries: Deliveries;
  checkRuns: Map<number, CheckRecord>;
  /** Oldest first. */
  deployments: DeploymentRecord[];
  extension: Extension;
}

export const fullNameOf = ({ owner, name }: Pick<Repository, 'owner' | 'name'>): string => `${owner}/${name}`;

/** A repository by its `owner/name`, without regard to case. */
export const repositoryNamed = ({ repositories }: Pick<Site, 'repositories'>, fullName: string) =>
  repositories.find((each) => fullNameOf(each).toLowerCase() === fullName.toLowerCase());

/** The repository of a call; refused where there is none for the caller, or where it may not do this in it. */
export async function repositoryFor(
  site: Site,
  { params, who }: Pick<ApiCall, 'params' | 'who'>,
  permission: string,
  level: Level,
): Promise<Repository> {
  const repository = repositoryNamed(site, `${params['owner']}/${params['repo']}`);
  if (!repository || !(await permits(site, who, repository, 'metadata', 'read'))) throw notFound();
  if (await permits(site, who, repository, permission, level)) return repository;
  throw who.kind === 'anonymous'
    ? new Refusal(401, 'Requires authentication')
    : new Refusal(403, 'Resource not accessible by integration');
}

/** Whether a caller may do something in a repository. */
export async function permits(
  { extension }: Site,
  who: Caller,
  repository: Repository,
  permission: string,
  level: Level,
): Promise<boolean> {
  if (level === 'write' && who.kind === 'anonymous') return false;
  return extension.permits?.(who, repository, permission, level) ?? true;
}

/**
 * Identifies the caller by the Authorization header: the App by its signed token, an installation, a person. The App's
 * signature is checked by the emulated GitHub, which holds the key. git sends a token as the password of a Basic
 * header.
 */
export async function identify(site: Site, authorization: string | undefined): Promise<Caller> {
  if (authorization === undefined) return { kind: 'anonymous' };
  const [scheme = '', credentials = ''] = authorization.split(' ');
  const isBasic = scheme.toLowerCase() === 'basic';
  const token = isBasic
    ? Buffer.from(credentials, 'base64')
        .toString()
        .replace(/^[^:]*:/, '')
    : credentials;
  if (token.startsWith('eyJ')) {
    const { status } = await site.emulated.ask('GET', '/app', authorization);
    return { kind: status === 200 ? 'app' : 'unknown' };
  }
  for (const [login, known] of site.people) if (known === token) return { kind: 'person', login };
  const installation = site.tokens.get(token);
  if (!installation?.isInstalled) return { kind: 'unknown' };
  return { kind: 'installation', installationId: installation.id, owner: installation.owner, token };
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
  login = site.administrator,
): Promise<JsonObject> {
  const answer = await site.emulated.ask(method, path, `token ${site.people.get(login)}`, body);
  if (answer.status >= 300) throw new Error(`emulate answered ${method} ${path} with ${answer.status}`);
  return isObject(answer.body) ? answer.body : {};
}

export const repositoryUrl = (site: Pick<Site, 'url'>, repository: Repository): string =>
  `${site.url}/repos/${fullNameOf(repository)}`;

export const webUrl = (site: Pick<Site, 'url'>, repository: Repository): string =>
  `${site.url}/${fullNameOf(repository)}`;

/** A time as GitHub spells it, whatever offset it was written with: in seconds, with Z. */
export const utc = (time: string | number): string => new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z');

/** An id as GitHub's old ones looked: of no meaning to anybody else. */
export const nodeId = (type: string, id: number | string): string =>
  Buffer.from(`0:${type}${id}`).toString('base64url');
