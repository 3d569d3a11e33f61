import { silentLogger } from '../logger.ts';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeIsolated } from '../control-service/isolation/isolation.ts';
import { removeEmbeddedData } from '../postgres/embedded.ts';
import { type GitHubForDemo, startGitHub } from './github/github.ts';
import { type AppProcess, freePort, type LocalService, startAppProcess, startLocalService } from './processes.ts';
import { Repository } from './repository.ts';
import { runStep, type StepResult } from './runner.ts';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { webhookReceived, type WebhookReceived } from '../contract/agent/webhook.ts';

/** The organization that the demo's person works for. */
const owner = 'acme';

/** Everything that the demo stands on: folders of its own, GitHub, both services, a repository, a runner, the App. */
export interface DemoEnvironment {
  service: LocalService;
  github: GitHubForDemo;
  /** Takes the webhooks of runs; the repository's graph configuration file allows its address. */
  receiver: Receiver;
  repository: Repository;
  /** The repository on GitHub, as `owner/name`. */
  fullName: string;
  repoUrl: string;
  folder: string;
  /** Runs the Action on the repository's newest commit, as its workflow would: because it was pushed. */
  deploy(commit: string, inputs: Readonly<Record<string, string>>, onLine: (line: string) => void): Promise<StepResult>;
  /** Runs the Action in a folder, with what a runner says of its run, and nothing about git. */
  step(
    workspace: string,
    inputs: Readonly<Record<string, string>>,
    run: Readonly<Record<string, string>>,
    onLine: (line: string) => void,
  ): Promise<StepResult>;
  /** The revisions of a deployment, as the control service lists them, newest first. */
  revisionsOf(deploymentId: string): Promise<string[]>;
  /** Starts the App, or starts it again. */
  startApp(): Promise<AppProcess>;
  /** The processes that were started so far. */
  pids(): readonly number[];
  /** Stops everything and removes every folder. It takes a while, so `log` gets a line for each step. */
  clear(log: (text: string) => void): Promise<void>;
}

/** @param root of this package: where `dist` and `examples` are. */
export async function startDemo(root: string, example: string): Promise<DemoEnvironment> {
  const folder = await mkdtemp(join(tmpdir(), 'landfall-demo-'));
  const data = join(folder, 'data');
  const appData = join(folder, 'app');
  const fullName = `${owner}/${example}`;
  const running: Made['running'] = [];
  const clear: DemoEnvironment['clear'] = (log) => cleanUp({ running, folder, data, appData }, log);
  try {
    await mkdir(join(folder, 'work', owner), { recursive: true });
    const github = await startGitHub({ folder: join(folder, 'github'), owners: [owner], people: ['mona'] });
    running.push(github);
    const receiver = await startReceiver();
    running.push(receiver);
    const repoUrl = github.gitUrl(fullName);
    await github.createRepository(fullName);
    const repository = await Repository.ofExample(
      join(root, 'examples', example),
      join(folder, 'work', owner, example),
    );
    await repository.edit('.github/landfall.yml', `https://github.com/${fullName}`, repoUrl);
    const domains = '"allowed_domains": ["*.example.com"';
    const withOurs = `"allowed_ports": [443, ${receiver.port}], ${domains}, "127.0.0.1"`;
    await repository.edit('langgraph.json', domains, withOurs);
    await repository.commit('Name the repository and the receiver of webhooks');
    await repository.pushTo(github.pushUrl(fullName));
    const service = await startLocalService({ root, data });
    running.push(service);
    const port = await freePort();
    const pids = [service.pid];
    const step: DemoEnvironment['step'] = (workspace, inputs, run, onLine) =>
      runStep({
        main: join(root, 'dist', 'index.js'),
        workspace,
        onLine,
        inputs: {
          'base-url': service.url,
          'api-key': service.apiKey,
          'poll-seconds': '0.5',
          'timeout-minutes': '5',
          ...inputs,
        },
        github: { GITHUB_SERVER_URL: github.url, GITHUB_API_URL: github.url, ...run },
      });
    return {
      service,
      github,
      receiver,
      repository,
      fullName,
      repoUrl,
      folder,
      step,
      async deploy(commit, inputs, onLine) {
        await repository.push();
        const pushed = {
          GITHUB_REPOSITORY: fullName,
          GITHUB_REF: 'refs/heads/main',
          GITHUB_SHA: commit,
          GITHUB_EVENT_NAME: 'push',
          GITHUB_ACTOR: 'mona',
        };
        return step(repository.folder, { 'repo-url': repoUrl, 'build-on-push': 'true', ...inputs }, pushed, onLine);
      },
      revisionsOf: (deploymentId) => revisionsOf(service, deploymentId),
      async startApp() {
        const app = await startAppProcess({ root, github, service, data: appData, port });
        running.push(app);
        pids.push(app.pid);
        return app;
      },
      pids: () => pids,
      clear,
    };
  } catch (error) {
    await clear(() => undefined);
    throw error;
  }
}

async function revisionsOf({ url, apiKey }: LocalService, deploymentId: string): Promise<string[]> {
  const response = await fetch(`${url}/v2/deployments/${deploymentId}/revisions?limit=100`, {
    headers: { 'x-api-key': apiKey },
  });
  const body: unknown = await response.json();
  const resources = typeof body === 'object' && body !== null && 'resources' in body ? body.resources : [];
  return (Array.isArray(resources) ? resources : []).map((revision: unknown) =>
    typeof revision === 'object' && revision !== null && 'id' in revision ? String(revision.id) : '',
  );
}

/** What the demo created. */
interface Made {
  /** What was started, in its order. What is ended is taken out, so that nothing is ended twice. */
  running: { stop(): Promise<void> }[];
  /** The folder that all lies in. */
  folder: string;
  /** The data folder of the services, below which builds lie. */
  data: string;
  /** The data folder of the App. */
  appData: string;
}

/**
 * Ends what runs, the last started first, and removes every folder. Thousands of files of packages were copied into builds, so
 * that the latter takes a while: `log` gets a line before each part.
 */
export async function cleanUp({ running, folder, data, appData }: Made, log: (text: string) => void): Promise<void> {
  log('Ending what was started: the App, the services with their agents, GitHub ...');
  for (const each of running.splice(0).reverse()) await each.stop();
  log('Removing what they made: the builds with all their packages, which takes a minute or more ...');
  // As root the databases and builds are in other folders, where a person would not look for them.
  await removeIsolated(data);
  log(`Removing the databases and ${folder} ...`);
  for (const each of [data, appData]) {
    await removeEmbeddedData({ dataDir: join(each, 'postgres'), log: silentLogger });
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** A receiver of the agent's webhooks on this machine. */
export interface Receiver {
  port: number;
  /** The address of a run's webhook, with a word that identifies the sender. */
  addressFor(word: string): string;
  /** The webhooks received at such an address: each run once, however often it was sent. */
  reported(word: string): readonly WebhookReceived[];
  stop(): Promise<void>;
}

/** Takes webhooks at a free port of the loopback, and answers 204 to each that has a run in it. */
export async function startReceiver(): Promise<Receiver> {
  const reported = new Map<string, Map<string, WebhookReceived>>();
  const take = async (path: string, body: Promise<unknown>): Promise<number> => {
    const read = webhookReceived.safeParse(await body.catch(() => undefined));
    if (!read.success) return 400;
    const runs = reported.get(path) ?? new Map<string, WebhookReceived>();
    reported.set(path, runs.set(read.data.run_id, read.data));
    return 204;
  };
  const server = createServer((request, response) => {
    void take(request.url ?? '', json(request)).then((status) => response.writeHead(status).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver listens at no port.');
  const { port } = address;
  return {
    port,
    addressFor: (word) => `http://127.0.0.1:${port}/${word}`,
    reported: (word) => [...(reported.get(`/${word}`)?.values() ?? [])],
    async stop() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
    },
  };
}
