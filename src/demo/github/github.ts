import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import * as manifest from '../../../app/setup/manifest.ts';
import { type Account, askEmulated, utc, type AppRecord, type Extension, type Site } from './site.ts';
import { Deliveries } from './deliveries.ts';
import { startEmulated } from './emulated.ts';
import { numberAt } from './exchange.ts';
import { peopleOf } from './people.ts';
import { gatewayOf } from './server.ts';

/** What GitHub on this machine is started with. All of it has a usual value but the folder. */
export interface GitHubSettings {
  /** An empty folder of its own, for the bare repositories. */
  folder: string;
  /** Organizations. */
  owners?: readonly string[];
  /** People; the first is the administrator of all organizations. */
  people?: readonly string[];
  /** The permissions and events of the App: those of its own manifest when absent. */
  permissions?: Readonly<Record<string, string>>;
  events?: readonly string[];
  extension?: Extension;
  /** Called with what went wrong in the gateway itself; such requests are answered with 500. */
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
    const site = await buildSite(url, settings);
    server.on('request', gatewayOf(site, onError));
    return {
      /** Of the API; repositories are below it. */
      url,
      /** All settings of the App. Created at every start. */
      app: site.app,
      site,
      ...peopleOf(site),
      /** Ends everything. What is being delivered is waited for. */
      async stop(): Promise<void> {
        server.close();
        await site.deliveries.settled();
        server.closeAllConnections();
        await site.emulated.stop();
      },
    };
  } catch (error) {
    server.close();
    throw error;
  }
}

async function buildSite(url: string, settings: Omit<GitHubSettings, 'onError'>): Promise<Site> {
  const { folder, owners = ['acme'], people: logins = ['mona'], extension = { around: (act) => act() } } = settings;
  const { permissions = manifest.permissions, events = manifest.events } = settings;
  const [administrator = ''] = logins;
  const people = new Map(logins.map((login) => [login, `ghp_${randomBytes(18).toString('hex')}`]));
  const installations = owners.map((owner, index) => ({ id: 50_001 + index, owner, isInstalled: false }));
  const made = { id: 10_001, slug: 'landfall', name: 'Landfall', permissions, events };
  const emulated = await startEmulated({ url, app: made, installations, people });
  const app: AppRecord = {
    ...made,
    clientId: `Iv1.${randomBytes(8).toString('hex')}`,
    privateKey: emulated.privateKey,
    webhookSecret: randomBytes(24).toString('hex'),
    webhookUrl: undefined,
    createdAt: utc(Date.now()),
  };
  const accounts = new Map<string, Account>();
  const site: Site = {
    url,
    folder,
    app,
    installations,
    tokens: new Map(),
    people,
    administrator,
    accounts,
    repositories: [],
    emulated,
    deliveries: new Deliveries(app),
    checkRuns: new Map(),
    deployments: [],
    extension,
  };
  for (const login of logins) {
    accounts.set(login, { login, id: numberAt(await askEmulated(site, 'GET', `/users/${login}`), 'id'), type: 'User' });
  }
  for (const login of owners) {
    const id = numberAt(await askEmulated(site, 'GET', `/orgs/${login}`), 'id');
    accounts.set(login, { login, id, type: 'Organization' });
  }
  return site;
}
