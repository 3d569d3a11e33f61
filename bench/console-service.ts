// The whole service as `npm run local` starts it, and Chromium without a window whose pages are signed in to its console.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import type { ControlServiceClient } from '../src/client/control.ts';
import { removeIsolated } from '../src/services/control/isolation/isolation.ts';
import { launchChromium } from '../src/demo/chromium.ts';
import { startLocalService, type LocalService } from '../src/demo/processes.ts';
import { connectBench } from './bench-control.ts';
import { benchFolder, startBenchPostgres } from './bench-postgres.ts';

const root = join(import.meta.dirname, '..');

/** The services, and the browser. */
export interface ConsoleBench extends AsyncDisposable {
  service: LocalService;
  control: ControlServiceClient;
  databaseUrl: string;
  /** Where repositories may be cloned from. */
  git: string;
  browser: Browser;
  /** Creates a deployment of a repository on this machine. */
  create: (name: string, folder: string, installCommand: string) => Promise<Created>;
  /** A page with a session, in a profile of its own, in which nothing is cached. */
  newPage(): Promise<Page>;
  /** The address of a page of the console. */
  address(path?: string): string;
}

export interface Created {
  id: string;
  revisionId: string;
}

/** Starts both, and signs in once. */
export async function openConsole(): Promise<ConsoleBench> {
  await using ending = new AsyncDisposableStack();
  const folder = ending.use(benchFolder());
  const postgres = ending.use(await startBenchPostgres(folder.path));
  const databaseUrl = await postgres.database('console');
  const data = join(folder.path, 'data');
  ending.defer(() => removeIsolated(data));
  const git = join(folder.path, 'git');
  await mkdir(git);
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  const service = await startLocalService({ root, data, allowGit: git, env });
  ending.defer(() => service.stop());
  const control = connectBench(service);
  ending.defer(() => control.close());
  const chromium = await launchChromium(folder.path);
  ending.defer(() => chromium.close());
  const { browser } = chromium;

  const address = (path = ''): string => `${service.url}/console/${path}`;
  const first = await browser.newPage();
  await first.goto(address());
  await first.getByLabel('API key').fill(service.apiKey);
  await first.getByRole('button', { name: 'Sign in' }).click();
  await first.getByRole('button', { name: 'Sign out' }).waitFor();
  const storageState = await first.context().storageState();
  await first.context().close();

  const end = ending.move();
  return {
    service,
    control,
    databaseUrl,
    git,
    browser,
    address,
    async create(name, source, installCommand) {
      const { id, latest_revision_id } = await control.createDeployment({
        name,
        source: 'github',
        source_config: {
          repo_url: pathToFileURL(source).href,
          install_command: installCommand,
          build_on_push: false,
        },
        source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
        secrets: [],
      });
      return { id, revisionId: latest_revision_id ?? '' };
    },
    newPage: async () => (await browser.newContext({ storageState, locale: 'en-US' })).newPage(),
    [Symbol.asyncDispose]: () => end.disposeAsync(),
  };
}
