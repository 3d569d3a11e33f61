/** GitHub on loopback: a gateway in front of the package `emulate`, which adds webhooks, git and missing operations. */

import { PullRecords } from './pull-records.ts';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import * as manifest from '../../../app/setup/manifest.ts';
import { type Account, requestEmulator, utc, type AppRecord, type TestHooks, type GitHubState } from './state.ts';
import { Deliveries } from './deliveries.ts';
import { startEmulator } from './emulator.ts';
import { numberAt } from './exchange.ts';
import { userActions } from './people.ts';
import { createGateway } from './server.ts';

/** Settings of the local GitHub. Only the folder is required. */
export interface GitHubSettings {
  /** An empty folder for the bare repositories. */
  folder: string;
  /** Logins of organizations. */
  owners?: readonly string[];
  /** Logins of people; the first is the administrator of all organizations. */
  people?: readonly string[];
  /** The permissions and events of the App; by default those of its manifest. */
  permissions?: Readonly<Record<string, string>>;
  events?: readonly string[];
  testHooks?: TestHooks;
  /** Called with errors of the gateway itself, which answers such requests with 500. */
  onError?: (error: unknown) => void;
}

/** GitHub on loopback: its API, its webhooks, and git. */
export type GitHubForDemo = Awaited<ReturnType<typeof startGitHub>>;

/** Starts GitHub on this machine. */
export async function startGitHub({ onError = () => undefined, ...settings }: GitHubSettings) {
  await mkdir(settings.folder, { recursive: true });
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  try {
    const state = await createState(url, settings);
    server.on('request', createGateway(state, onError));
    return {
      /** The base URL of the API and of the git repositories. */
      url,
      /** The App's ids and secrets, created at every start. */
      app: state.app,
      state,
      ...userActions(state),
      /** Stops the servers after pending deliveries finish. */
      async stop(): Promise<void> {
        server.close();
        await state.deliveries.settled();
        server.closeAllConnections();
        await state.emulator.stop();
      },
    };
  } catch (error) {
    server.close();
    throw error;
  }
}

async function createState(url: string, settings: Omit<GitHubSettings, 'onError'>): Promise<GitHubState> {
  const {
    folder,
    owners = ['acme'],
    people: logins = ['mona'],
    testHooks = { wrapRequest: (act) => act() },
  } = settings;
  const { permissions = manifest.permissions, events = manifest.events } = settings;
  const [administrator = ''] = logins;
  const personalTokens = new Map(logins.map((login) => [login, `ghp_${randomBytes(18).toString('hex')}`]));
  const installations = owners.map((owner, index) => ({ id: 50_001 + index, owner, isInstalled: false }));
  const appSeed = { id: 10_001, slug: 'landfall', name: 'Landfall', permissions, events };
  const emulator = await startEmulator({ url, app: appSeed, installations, personalTokens });
  const app: AppRecord = {
    ...appSeed,
    clientId: `Iv1.${randomBytes(8).toString('hex')}`,
    privateKey: emulator.privateKey,
    webhookSecret: randomBytes(24).toString('hex'),
    webhookUrl: undefined,
    createdAt: utc(Date.now()),
  };
  const accounts = new Map<string, Account>();
  const state: GitHubState = {
    url,
    folder,
    app,
    installations,
    installationTokens: new Map(),
    personalTokens,
    administrator,
    accounts,
    repositories: [],
    emulator,
    deliveries: new Deliveries(app),
    checkRuns: new Map(),
    statuses: [],
    reactions: new Map(),
    deployments: [],
    pulls: new PullRecords(),
    testHooks,
  };
  for (const login of logins) {
    accounts.set(login, {
      login,
      id: numberAt(await requestEmulator(state, 'GET', `/users/${login}`), 'id'),
      type: 'User',
    });
  }
  for (const login of owners) {
    const id = numberAt(await requestEmulator(state, 'GET', `/orgs/${login}`), 'id');
    accounts.set(login, { login, id, type: 'Organization' });
  }
  return state;
}
