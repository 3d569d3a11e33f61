// The fixture of the App's journeys: GitHub on loopback, validated against its OpenAPI document, our control service
// with running agents, and the App in this process.
import { join } from 'node:path';
import { createAppWork } from '../../app/create-app-work.ts';
import { createProgramLogger } from '../../src/kit/program-logger.ts';
import type { Settings } from '../../app/settings/read-settings.ts';
import { startApp, type RunningApp } from '../../app/start.ts';
import { systemClock, type Clock } from '../../src/kit/clock.ts';
import { startAppProcess, type AppProcess } from '../../src/demo/processes.ts';
import { freePort } from '../../src/kit/free-port.ts';
import { silentLogger } from '../../src/kit/logger.ts';
import { removeEmbeddedData } from '../../src/kit/postgres/embedded.ts';
import { gitOrUndefined } from '../../src/demo/github/git/commits.ts';
import { startTestPostgres } from '../kit/postgres/postgres.ts';
import { testGitHub, type TestGitHub } from '../demo/github/github.ts';
import type { WholeGitHub } from '../demo/github/whole-github.ts';
import type { Agents } from './app-agents.ts';
import type { Built } from './app-rollouts.ts';
import { startJourneyService, type JourneyService } from './app-service.ts';
import { root } from './fixture.ts';

/** Options that differ from the defaults. */
export interface AppFixtureOptions {
  /** Organizations: each journey has one of its own, since GitHub's limits are one installation's. */
  owners: readonly string[];
  builder?: Settings['builder'];
  bindings?: Settings['bindings'];
  /** The service holds revisions before traffic. */
  holds?: boolean;
  /** By default agents that say a word. */
  agents?: Agents;
  /** The App is not started yet. */
  isDown?: boolean;
}

/** Everything that journeys of one file share. */
export interface AppFixture {
  demo: TestGitHub;
  github: WholeGitHub;
  service: JourneyService;
  /** The App that runs now. */
  readonly app: RunningApp;
  /** Where its webhooks go, whether or not it runs. */
  webhookUrl: string;
  /** Starts the App, again on the same data and at the same address. */
  start(clock?: Clock): Promise<void>;
  stop(): Promise<void>;
  /** Looks until something is found; throws at the first exchange with GitHub that is not as its document says. */
  until<T>(what: string, find: () => Promise<T | undefined | false>): Promise<T>;
  /** The same for what is seen of a repository on GitHub: looked at when something was written there, and seldom else. */
  untilSeen<T>(fullName: string, what: string, find: () => Promise<T | undefined | false>): Promise<T>;
  close(): Promise<void>;
}

/** Starts the App as a process of its own, on what the one before it left. */
export const startAppBeside = (
  { demo, github, service, webhookUrl }: AppFixture,
  settings: Readonly<Record<string, string>> = {},
): Promise<AppProcess> =>
  startAppProcess({ root, github, service, data: appDataOf(demo), port: Number(new URL(webhookUrl).port), settings });

/** Ends the fixture, and removes the database of an App that was a process of its own. */
export async function closeBeside(fixture: AppFixture): Promise<void> {
  await removeEmbeddedData({ dataDir: join(appDataOf(fixture.demo), 'postgres'), log: silentLogger });
  await fixture.close();
}

const appDataOf = ({ folder }: TestGitHub): string => join(folder, 'app');

/** People of every fixture: the first administers, the second may write, the third is a stranger. */
export const people = { admin: 'mona', writer: 'wilma', stranger: 'stan' } as const;

/** The secret that GitHub is about to sign with: the App takes it and the one that GitHub still uses. */
export const nextWebhookSecret = 'the-next-secret-of-this-journey';

/** How long anything may take (ms), and how often it is looked at. */
const maxWaitMs = 240_000;
const lookEveryMs = 100;
const seldomMs = 3_000;

/** Opens a fixture. The caller closes it. */
export async function openAppFixture(options: AppFixtureOptions): Promise<AppFixture> {
  const { owners, builder = 'app', bindings = [], isDown = false, holds, agents } = options;
  const written = new Map<string, number>();
  const demo = await testGitHub({
    owners,
    people: Object.values(people),
    onExchange: ({ call: { method, params } }) => {
      if (method === 'GET') return;
      const fullName = `${params['owner']}/${params['repo']}`;
      written.set(fullName, (written.get(fullName) ?? 0) + 1);
    },
  });
  const { github } = demo;
  const service = await startJourneyService((repoUrl, repoRef) => readBranch(demo, repoUrl, repoRef), {
    holds,
    agents,
  });
  const postgres = await startTestPostgres();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const lines: string[] = [];
  const settings: Settings = {
    github: {
      appId: github.app.id,
      privateKey: github.app.privateKey,
      webhookSecrets: [nextWebhookSecret, github.app.webhookSecret],
      apiUrl: github.url,
    },
    service: { baseUrl: service.url, apiKey: service.apiKey, tenantId: undefined, spelling: 'contract' },
    builder,
    bindings,
    graderUrls: [],
    previewSecrets: new Map(),
    publicUrl: url,
    databaseUrl: postgres.url,
    dataDir: join(demo.folder, 'not-used'),
    host: '127.0.0.1',
    port,
    allowHttp: false,
  };
  let app: RunningApp | undefined;
  const fixture: AppFixture = {
    demo,
    github,
    service,
    webhookUrl: `${url}/api/github/webhooks`,
    get app() {
      if (!app) throw new Error('the App does not run');
      return app;
    },
    async start(clock = systemClock) {
      const write = (line: string): void => void lines.push(line);
      const log = createProgramLogger({ name: 'app', env: {}, isTerminal: false, write });
      app = await startApp({ settings, clock, log, createAppWork });
    },
    async stop() {
      await app?.close();
      app = undefined;
    },
    async until(what, find) {
      const end = performance.now() + maxWaitMs;
      for (;;) {
        const wrong = [...demo.problems, ...demo.errors.map(String)];
        if (wrong.length > 0) throw new Error(`not as GitHub's document says:\n${wrong.join('\n')}`);
        const found = await find();
        if (found !== undefined && found !== false) return found;
        if (performance.now() > end) throw new Error(`${what}: waited in vain. The App said:\n${tail(lines)}`);
        await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
      }
    },
    untilSeen(fullName, what, find) {
      let [seen, at] = [-1, 0];
      return fixture.until(`${fullName}: ${what}`, async () => {
        const count = written.get(fullName) ?? 0;
        if (count === seen && performance.now() - at < seldomMs) return undefined;
        [seen, at] = [count, performance.now()];
        return find();
      });
    },
    async close() {
      await github.settled();
      // Close everything, then throw the first error.
      const ends = [() => fixture.stop(), () => service.close(), () => postgres.stop(), () => demo.stop()];
      const errors: unknown[] = [];
      for (const end of ends) await end().catch((error: unknown) => errors.push(error));
      if (errors.length > 0) throw errors[0];
    },
  };
  github.sendWebhooksTo(fixture.webhookUrl);
  if (!isDown) await fixture.start();
  return fixture;
}

const tail = (lines: readonly string[]): string => lines.slice(-150).join('\n');

/** What a branch holds now: the word of its agent in `says.txt`, and `build.txt` where its build is to fail. */
async function readBranch(demo: TestGitHub, repoUrl: string, repoRef: string): Promise<Built> {
  const folder = join(demo.folder, 'repositories', new URL(repoUrl).pathname);
  const commit = await gitOrUndefined(folder, 'rev-parse', '--verify', '--quiet', `refs/heads/${repoRef}^{commit}`);
  if (commit === undefined) throw new Error(`${repoUrl} has no branch ${repoRef}`);
  const word = await gitOrUndefined(folder, 'show', `${commit}:says.txt`);
  const build = await gitOrUndefined(folder, 'show', `${commit}:build.txt`);
  return { commit, word: word?.trim() ?? 'hello', isBroken: build?.trim() === 'fails' };
}
