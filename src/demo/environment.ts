import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { connectControlService } from '../client/control.ts';
import { webhookReceived, type ReceivedWebhook } from '../contract/agent/webhook.ts';
import { removeIsolated } from '../services/control/isolation/isolation.ts';
import { silentLogger } from '../kit/logger.ts';
import { removeEmbeddedData } from '../kit/postgres/embedded.ts';
import { startGitHub } from './github/github.ts';
import { freePort } from '../kit/free-port.ts';
import { type AppProcess, startAppProcess, startLocalService } from './processes.ts';
import { Repository } from './repository.ts';
import { runStep, type StepResult } from './runner.ts';

/** The organization that the demo's person works for. */
const owner = 'acme';

type Values = Readonly<Record<string, string>>;

/** Everything that the demo stands on: folders of its own, GitHub, both services, a repository, a runner, the App. */
export type DemoEnvironment = Awaited<ReturnType<typeof startDemo>>;

/**
 * @param root of this package: where `dist` and `examples` are.
 * @param isLinkKept whether the one-time link to the console is left for a person.
 */
export async function startDemo(root: string, example: string, isLinkKept = false) {
  const folder = await mkdtemp(join(tmpdir(), 'landfall-demo-'));
  const data = join(folder, 'data');
  const appData = join(folder, 'app');
  /** The repository on GitHub, as `owner/name`. */
  const fullName = `${owner}/${example}`;
  const running: DemoResources['running'] = [];
  /** Stops everything and removes every folder. It takes a while, so `log` gets a line for each step. */
  const clear = (log: (text: string) => void): Promise<void> => cleanUp({ running, folder, data, appData }, log);
  try {
    await mkdir(join(folder, 'work', owner), { recursive: true });
    const github = await startGitHub({ folder: join(folder, 'github'), owners: [owner], people: ['mona'] });
    running.push(github);
    const receiver = await startReceiver();
    running.push(receiver);
    const repoUrl = github.gitUrl(fullName);
    await github.createRepository(fullName);
    const repository = await Repository.ofExample(join(root, 'examples', example), join(folder, 'work', fullName));
    await repository.edit('.github/landfall.yml', `https://github.com/${fullName}`, repoUrl);
    const domains = '"allowed_domains": ["*.example.com"';
    const withOurs = `"allowed_ports": [443, ${receiver.port}], ${domains}, "127.0.0.1"`;
    await repository.edit('langgraph.json', domains, withOurs);
    await repository.commit('Name the repository and the receiver of webhooks');
    await repository.pushTo(github.pushUrl(fullName));
    const service = await startLocalService({ root, data });
    running.push(service);
    const control = connectControlService({
      baseUrl: service.url,
      apiKey: service.apiKey,
      userAgent: 'landfall-demo',
      spelling: 'contract',
    });
    running.push({ stop: () => control.close() });
    const port = await freePort();
    let app: AppProcess | undefined;
    /** The processes that were started so far. */
    const pids = [service.pid];
    /** Runs the Action in a folder, with what a runner says of its run, and nothing about git. */
    const step = (workspace: string, inputs: Values, run: Values, onLine: (line: string) => void) =>
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
      root,
      service,
      isLinkKept,
      control,
      github,
      /** Takes the webhooks of runs; the repository's graph configuration file allows its address. */
      receiver,
      repository,
      fullName,
      repoUrl,
      folder,
      step,
      /** Runs the Action on the repository's newest commit, as its workflow would: because it was pushed. */
      async deploy(
        commit: string,
        inputs: Values,
        onLine: (line: string) => void,
        on = { repository, fullName },
      ): Promise<StepResult> {
        await on.repository.push();
        const pushed = {
          GITHUB_REPOSITORY: on.fullName,
          GITHUB_REF: 'refs/heads/main',
          GITHUB_SHA: commit,
          GITHUB_EVENT_NAME: 'push',
          GITHUB_ACTOR: 'mona',
        };
        return step(on.repository.folder, { 'repo-url': github.gitUrl(on.fullName), ...inputs }, pushed, onLine);
      },
      /** How many revisions a deployment has. */
      countRevisions: async (deploymentId: string): Promise<number> =>
        (await control.listRevisions(deploymentId, { limit: 100 })).resources.length,
      /** Starts the App, or starts it again. */
      async startApp(): Promise<AppProcess> {
        app = await startAppProcess({ root, github, service, data: appData, port });
        running.push(app);
        pids.push(app.pid);
        return app;
      },
      async killApp(): Promise<AppProcess | undefined> {
        await app?.kill();
        return app;
      },
      pids,
      clear,
    };
  } catch (error) {
    await clear(() => undefined);
    throw error;
  }
}

/** What the demo created. */
interface DemoResources {
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
 * Ends what runs, the last started first, and removes every folder, which takes a while: `log` gets a line before each
 * part.
 */
export async function cleanUp(
  { running, folder, data, appData }: DemoResources,
  log: (text: string) => void,
): Promise<void> {
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
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Takes webhooks at a free port of the loopback, and answers 204 to each that has a run in it. */
export async function startReceiver() {
  const reported = new Map<string, Map<string, ReceivedWebhook>>();
  const take = async (path: string, body: Promise<unknown>): Promise<number> => {
    const read = webhookReceived.safeParse(await body.catch(() => undefined));
    if (!read.success) return 400;
    const runs = reported.get(path) ?? new Map<string, ReceivedWebhook>();
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
    /** The address of a run's webhook, with a word that identifies the sender. */
    addressFor: (word: string): string => `http://127.0.0.1:${port}/${word}`,
    /** The webhooks received at such an address: each run once, however often it was sent. */
    reported: (word: string): readonly ReceivedWebhook[] => [...(reported.get(`/${word}`)?.values() ?? [])],
    async stop(): Promise<void> {
      const closed = server[Symbol.asyncDispose]();
      server.closeAllConnections();
      await closed;
    },
  };
}
