import { silentLogger } from '../../src/kit/logger.ts';
// The fixture of the journeys: both services in a process of their own, git repositories, and a runner.
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import { connectControlService, type ControlServiceClient } from '../../src/client/control.ts';
import type { Revision } from '../../src/contract/control/revision.ts';
import { startLocalService, type LocalService } from '../../src/demo/processes.ts';
import { removeIsolated } from '../../src/services/control/isolation/isolation.ts';
import { removeEmbeddedData } from '../../src/kit/postgres/embedded.ts';
import { Repository } from '../../src/demo/repository.ts';
import { commitLinkScript, linkPackages } from '../installed-packages.ts';
import { dropAgentDatabases } from '../services/control/databases-of.ts';
import { startTestPostgres } from '../kit/postgres/postgres.ts';
import { runStep, type Step, type StepResult } from '../../src/demo/runner.ts';

export const root = join(import.meta.dirname, '../..');

/** The person or team whose repositories these are. */
const owner = 'acme';

/** Options of a workflow step. */
export type Given = Partial<Pick<Step, 'env' | 'onLine' | 'cancel' | 'event'>> & {
  inputs?: Readonly<Record<string, string>>;
  /** The base URL for the step; the service's own when absent. */
  baseUrl?: string;
  /** The commit that the workflow runs on; the head when absent. */
  commit?: string;
};

export interface JourneyFixture {
  /** The folder of this journey: `git`, `data`. */
  folder: string;
  service: LocalService;
  /** The services' database; undefined where they start one of their own. */
  databaseUrl: string | undefined;
  control: ControlServiceClient;
  /** Makes a git repository of one of the agents beside this file. */
  repository(agent: string, name?: string): Promise<Repository>;
  /** Runs the Action on a repository, as a workflow on its branch `main` would. */
  step(repository: Repository, given?: Given): Promise<StepResult>;
  /** Sends an input to the live agent of a deployment, and returns the final values. */
  ask(deploymentUrl: string | undefined, input: string): Promise<Talk>;
  /** The revisions of a deployment, newest first. */
  revisions(deploymentId: string | undefined): Promise<Revision[]>;
  /** Kills the service as a power cut would. */
  kill(): Promise<void>;
  /** Starts it again on the same data and the same port. */
  startAgain(): Promise<void>;
  close(): Promise<void>;
}

const Talk = z.object({ said: z.string(), mood: z.string().default(''), pid: z.int().default(0) });
/** The talker's final values; the gossip agent has fewer. */
export type Talk = z.infer<typeof Talk>;

/** What differs from the usual. */
export interface JourneyOptions {
  /** The services' environment. */
  env?: NodeJS.ProcessEnv;
  /** The services start a Postgres of their own, as for people; otherwise they use that of the test run, which is there. */
  ownPostgres?: boolean;
}

/** Starts a fixture. The caller closes it. */
export async function openJourneyFixture(options: JourneyOptions = {}): Promise<JourneyFixture> {
  const postgres = options.ownPostgres ? undefined : await startTestPostgres();
  const env = { ...(options.env ?? process.env), ...(postgres ? { DATABASE_URL: postgres.url } : {}) };
  const folder = await mkdtemp(join(tmpdir(), 'landfall-journey-'));
  // As root, the database runs as another user, who needs access to the parent folders.
  await chmod(folder, 0o711);
  const git = join(folder, 'git');
  const data = join(folder, 'data');
  await mkdir(git);
  const start = (port = 0): Promise<LocalService> => startLocalService({ root, data, allowGit: git, port, env });
  let service: LocalService;
  try {
    service = await start();
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  const control = connectControlService({
    baseUrl: service.url,
    apiKey: service.apiKey,
    userAgent: 'landfall-journey',
    spelling: 'contract',
  });
  return {
    folder,
    databaseUrl: postgres?.url,
    control,
    get service() {
      return service;
    },
    async repository(agent, name = agent) {
      const made = await Repository.fromExample(join(import.meta.dirname, 'agents', agent), join(git, owner, name));
      await commitLinkScript(made);
      return made;
    },
    async step(repository, { inputs = {}, baseUrl = service.url, commit, ...given } = {}) {
      const name = repository.folder.split('/').at(-1) ?? '';
      return runStep({
        main: join(root, 'dist/index.js'),
        workspace: repository.folder,
        ...given,
        inputs: {
          'base-url': baseUrl,
          'api-key': service.apiKey,
          name,
          source: 'github',
          'repo-url': pathToFileURL(repository.folder).href,
          'repo-ref': 'main',
          'graph-config-path': 'langgraph.json',
          'install-command': linkPackages,
          'poll-seconds': '0.2',
          'timeout-minutes': '2',
          ...inputs,
        },
        github: {
          GITHUB_SERVER_URL: pathToFileURL(git).href,
          GITHUB_REPOSITORY: `${owner}/${name}`,
          GITHUB_REF: 'refs/heads/main',
          GITHUB_SHA: commit ?? (await repository.head()),
          GITHUB_EVENT_NAME: 'push',
          GITHUB_ACTOR: 'octocat',
        },
      });
    },
    async ask(deploymentUrl, input) {
      const answer = await fetch(`${deploymentUrl}/runs/wait`, {
        method: 'POST',
        headers: { 'x-api-key': service.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ assistant_id: 'talk', input: { input } }),
      });
      return Talk.parse(await answer.json());
    },
    async revisions(deploymentId = '') {
      return (await control.listRevisions(deploymentId, { limit: 100 })).resources;
    },
    kill: () => service.kill(),
    async startAgain() {
      service = await start(Number(new URL(service.url).port));
    },
    async close() {
      await control.close();
      await service.stop();
      await removeIsolated(data);
      if (postgres) {
        await dropAgentDatabases(postgres.url);
        await postgres.stop();
      } else await removeEmbeddedData({ dataDir: join(data, 'postgres'), log: silentLogger });
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
