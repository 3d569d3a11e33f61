import type { PullRecords } from './pull-records.ts';
import { isObject } from '../../kit/json-object.ts';
import type { Deliveries } from './deliveries.ts';
import type { Emulator } from './emulator.ts';
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
  /** False until the App is installed; its id is reserved for the owner. */
  isInstalled: boolean;
}

/** A repository: its metadata, and its bare git repository on disk. */
export interface Repository {
  id: number;
  owner: string;
  name: string;
  isPrivate: boolean;
  defaultBranch: string;
  /** The path of the bare repository. */
  folder: string;
}

/** A person, an organization or the App's own bot. */
export interface Account {
  login: string;
  id: number;
  type: 'User' | 'Organization' | 'Bot';
}

/** The data of a check run that `emulate` does not store. */
export interface CheckRecord {
  repositoryId: number;
  sha: string;
  /** Identifiers of its buttons. */
  buttons: string[];
  annotations: JsonObject[];
}

/** One GitHub Deployment as the API returns it, with its statuses, oldest first. */
export interface DeploymentRecord {
  repositoryId: number;
  deployment: JsonObject;
  statuses: JsonObject[];
}

/** What a push did to one ref. */
export interface RefChange {
  ref: string;
  /** Forty zeros where the ref did not exist, or was deleted. */
  before: string;
  after: string;
}

/** Answers the calls of one operation. */
export type Handler = (call: ApiCall, state: GitHubState) => Promise<ApiResponse>;

/** An operation of the API; the template is GitHub's spelling of its path. */
export type Operation = readonly [method: string, template: string, handler: Handler];

type Level = 'read' | 'write';

/**
 * How tests extend the gateway: with features of GitHub that the demo does not need, with faults, and with observers.
 */
export interface TestHooks {
  /** Take precedence over the demo's own operations. */
  operations?: readonly Operation[];
  /** Runs the handler of a request. */
  wrapRequest<T>(act: () => Promise<T>): Promise<T>;
  /** Maps the path of a request to another, as for renamed repositories. */
  rewritePath?(path: string): string;
  /** Returns another response, drops the response after its effect, or closes the connection before. */
  intercept?(call: ApiCall): ApiResponse | 'lose' | 'close' | undefined;
  onExchange?(exchange: Exchange): void;
  /**
   * Whether a caller has a permission in a repository. By default everybody may read, and every identified caller may
   * write.
   */
  permits?(caller: Caller, repository: Repository, permission: string, level: Level): Promise<boolean>;
  /** Called after the events of a push to a branch. */
  onPush?(state: GitHubState, repository: Repository, branch: string, change: RefChange, by?: string): Promise<void>;
}

/** The state of the gateway, passed to all handlers. */
export interface GitHubState {
  url: string;
  /** Holds the bare repositories. */
  folder: string;
  app: AppRecord;
  installations: Installation[];
  /** The installation of each installation token. */
  installationTokens: Map<string, Installation>;
  /** Personal tokens by login. */
  personalTokens: ReadonlyMap<string, string>;
  /** The login whose token the gateway uses for its own calls. */
  administrator: string;
  /** People and organizations by login. */
  accounts: ReadonlyMap<string, Account>;
  repositories: Repository[];
  emulator: Emulator;
  deliveries: Deliveries;
  /** The reactions to each comment, in order. */
  reactions: Map<number, string[]>;
  checkRuns: Map<number, CheckRecord>;
  /** The statuses of commits, oldest first. */
  statuses: { repositoryId: number; sha: string; status: JsonObject }[];
  /** Oldest first. */
  deployments: DeploymentRecord[];
  pulls: PullRecords;
  testHooks: TestHooks;
}

export const fullNameOf = ({ owner, name }: Pick<Repository, 'owner' | 'name'>): string => `${owner}/${name}`;

/** Finds a repository by its `owner/name`, ignoring case. */
export const findRepository = ({ repositories }: Pick<GitHubState, 'repositories'>, fullName: string) =>
  repositories.find((each) => fullNameOf(each).toLowerCase() === fullName.toLowerCase());

/** The repository of a call. @throws Refusal if it does not exist for the caller, or the permission is missing. */
export async function repositoryFor(
  state: GitHubState,
  { params, caller }: Pick<ApiCall, 'params' | 'caller'>,
  permission: string,
  level: Level,
): Promise<Repository> {
  const repository = findRepository(state, `${params['owner']}/${params['repo']}`);
  if (!repository || !(await permits(state, caller, repository, 'metadata', 'read'))) throw notFound();
  if (await permits(state, caller, repository, permission, level)) return repository;
  throw caller.kind === 'anonymous'
    ? new Refusal(401, 'Requires authentication')
    : new Refusal(403, 'Resource not accessible by integration');
}

/** Whether a caller has a permission in a repository. */
export async function permits(
  { testHooks }: GitHubState,
  caller: Caller,
  repository: Repository,
  permission: string,
  level: Level,
): Promise<boolean> {
  if (level === 'write' && caller.kind === 'anonymous') return false;
  return testHooks.permits?.(caller, repository, permission, level) ?? true;
}

/**
 * Identifies the caller by the Authorization header: the App by its signed token, an installation, or a person.
 * `emulate` holds the App's key and checks the signature. git sends a token as the password of a Basic header.
 */
export async function identify(state: GitHubState, authorization: string | undefined): Promise<Caller> {
  if (authorization === undefined) return { kind: 'anonymous' };
  const [scheme = '', credentials = ''] = authorization.split(' ');
  const isBasic = scheme.toLowerCase() === 'basic';
  const token = isBasic
    ? Buffer.from(credentials, 'base64')
        .toString()
        .replace(/^[^:]*:/, '')
    : credentials;
  if (token.startsWith('eyJ')) {
    const { status } = await state.emulator.request('GET', '/app', authorization);
    return { kind: status === 200 ? 'app' : 'unknown' };
  }
  for (const [login, personalToken] of state.personalTokens)
    if (personalToken === token) return { kind: 'person', login };
  const installation = state.installationTokens.get(token);
  if (!installation?.isInstalled) return { kind: 'unknown' };
  return { kind: 'installation', installationId: installation.id, owner: installation.owner, token };
}

/**
 * Calls `emulate` as its administrator, or as another person.
 *
 * @throws Error that names the request, unless it succeeds.
 */
export async function requestEmulator(
  state: GitHubState,
  method: string,
  path: string,
  body?: JsonObject,
  login = state.administrator,
): Promise<JsonObject> {
  const answer = await state.emulator.request(method, path, `token ${state.personalTokens.get(login)}`, body);
  if (answer.status >= 300) throw new Error(`emulate answered ${method} ${path} with ${answer.status}`);
  return isObject(answer.body) ? answer.body : {};
}

export const repositoryUrl = (state: Pick<GitHubState, 'url'>, repository: Repository): string =>
  `${state.url}/repos/${fullNameOf(repository)}`;

export const webUrl = (state: Pick<GitHubState, 'url'>, repository: Repository): string =>
  `${state.url}/${fullNameOf(repository)}`;

/** A time as GitHub formats it: UTC, in seconds, with Z. */
export const utc = (time: string | number): string => new Date(time).toISOString().replace(/\.\d{3}Z$/, 'Z');

/** A `node_id` in GitHub's older format. Clients must treat it as opaque. */
export const nodeId = (type: string, id: number | string): string =>
  Buffer.from(`0:${type}${id}`).toString('base64url');
