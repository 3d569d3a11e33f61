import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import * as manifest from '../../../app/setup/manifest.ts';
import { systemClock, type Clock } from '../../clock.ts';
import { Checks } from './answers/checks.ts';
import { DeploymentRecords } from './answers/deployments.ts';
import { Deliveries } from './events/deliveries.ts';
import { startEmulated } from './emulated.ts';
import { numberAt } from './exchange.ts';
import { peopleOf, type People } from './people.ts';
import { Repositories } from './repositories.ts';
import { createGateway } from './server.ts';
import { isoNow, objectFromEmulated, type AppRecord, type Extension, type Site } from './site.ts';
import type { Account } from './answers/accounts.ts';

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
  /** The port on 127.0.0.1; a free one when absent. */
  port?: number;
  clock?: Clock;
  extension?: Extension;
  /** Called with what went wrong in the gateway itself; such requests are answered with 500. */
  onError?: (error: unknown) => void;
}

/** GitHub on loopback: its API, its webhooks, and git. */
export interface GitHubForDemo extends People {
  /** Of the API; repositories are below it. */
  url: string;
  /** All settings of the App. Created at every start. */
  app: Readonly<Pick<AppRecord, 'id' | 'slug' | 'clientId' | 'privateKey' | 'webhookSecret'>>;
  site: Site;
  /** Ends everything. What is being delivered is waited for. */
  stop(): Promise<void>;
}

/** Starts GitHub on this machine. */
export async function startGitHub(settings: GitHubSettings): Promise<GitHubForDemo> {
  const { folder, owners = ['acme'], people = ['mona'], port = 0, clock = systemClock } = settings;
  await mkdir(folder, { recursive: true });
  let site: Site | undefined;
  const server = createGateway({
    site: () => site,
    onError: (error) => settings.onError?.(error),
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : port}`;
  try {
    site = await buildSite({ url, folder, owners, people, clock, settings });
  } catch (error) {
    server.close();
    throw error;
  }
  const { app, deliveries, emulated } = site;
  return {
    url,
    app,
    site,
    ...peopleOf(site),
    async stop() {
      server.close();
      await deliveries.settled();
      server.closeAllConnections();
      await emulated.stop();
    },
  };
}

async function buildSite({
  url,
  folder,
  owners,
  people,
  clock,
  settings,
}: {
  url: string;
  folder: string;
  owners: readonly string[];
  people: readonly string[];
  clock: Clock;
  settings: GitHubSettings;
}): Promise<Site> {
  const { permissions = manifest.permissions, events = manifest.events } = settings;
  const tokens = new Map(people.map((login) => [login, `ghp_${randomBytes(18).toString('hex')}`]));
  const installations = owners.map((owner, index) => ({ id: 50_001 + index, owner, isInstalled: false }));
  const made = { id: 10_001, slug: 'landfall', name: 'Landfall', permissions, events };
  const emulated = await startEmulated({
    url,
    app: made,
    owners: installations.map(({ id, owner }) => ({ login: owner, installationId: id })),
    people: [...tokens].map(([login, token]) => ({ login, token })),
  });
  const app: AppRecord = {
    ...made,
    clientId: `Iv1.${randomBytes(8).toString('hex')}`,
    privateKey: emulated.privateKey,
    webhookSecret: randomBytes(24).toString('hex'),
    webhookUrl: undefined,
    createdAt: isoNow({ clock }),
  };
  const hook = () => ({ appId: app.id, secret: app.webhookSecret, url: app.webhookUrl });
  const accounts = new Map<string, Account>();
  const site: Site = {
    url,
    clock,
    app,
    installations,
    tokens: new Map(),
    people: tokens,
    accounts,
    repositories: new Repositories(folder),
    emulated,
    deliveries: new Deliveries(hook, clock),
    checks: new Checks(),
    deployments: new DeploymentRecords(),
    extension: settings.extension ?? { around: (act) => act() },
  };
  for (const login of people) {
    const id = numberAt(await objectFromEmulated(site, 'GET', `/users/${login}`), 'id') ?? 0;
    accounts.set(login, { login, id, type: 'User' });
  }
  for (const login of owners) {
    const id = numberAt(await objectFromEmulated(site, 'GET', `/orgs/${login}`), 'id') ?? 0;
    accounts.set(login, { login, id, type: 'Organization' });
  }
  return site;
}
