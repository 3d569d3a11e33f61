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
import { startIssuer } from './token-issuer.ts';

/** The demo's organization on GitHub. */
const owner = 'acme';

type Values = Readonly<Record<string, string>>;

/** What the demo runs on: temporary folders, GitHub, both services, a repository, a runner, the App. */
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
  const stoppables: DemoResources['stoppables'] = [];
  /** Stops everything and removes every folder. `log` gets a line for each step, because it takes a while. */
  const removeAll = (log: (text: string) => void): Promise<void> => cleanUp({ stoppables, folder, data, appData }, log);
  try {
    await mkdir(join(folder, 'work', owner), { recursive: true });
    const github = await startGitHub({ folder: join(folder, 'github'), owners: [owner], people: ['mona'] });
    stoppables.push(github);
    const receiver = await startReceiver();
    stoppables.push(receiver);
    const repoUrl = github.gitUrl(fullName);
    await github.createRepository(fullName);
    const repository = await Repository.fromExample(join(root, 'examples', example), join(folder, 'work', fullName));
    await repository.edit('.github/landfall.yml', `https://github.com/${fullName}`, repoUrl);
    const domains = '"allowed_domains": ["*.example.com"';
    const withReceiver = `"allowed_ports": [443, ${receiver.port}], ${domains}, "127.0.0.1"`;
    await repository.edit('langgraph.json', domains, withReceiver);
    await repository.commit('Name the repository and the receiver of webhooks');
    await repository.pushTo(github.pushUrl(fullName));
    const issuer = await startIssuer();
    stoppables.push(issuer);
    const service = await startLocalService({ root, data, oidcIssuer: issuer.url });
    stoppables.push(service);
    const control = connectControlService({
      baseUrl: service.url,
      apiKey: service.apiKey,
      userAgent: 'landfall-demo',
      spelling: 'contract',
    });
    stoppables.push({ stop: () => control.close() });
    const port = await freePort();
    let app: AppProcess | undefined;
    /** The processes that were started so far. */
    const pids = [service.pid];
    /**
     * Runs the Action in a folder.
     *
     * @param run the runner's variables about the run. @param env of the step. @param event the payload of its event.
     */
    const step = (
      workspace: string,
      inputs: Values,
      run: Values,
      onLine: (line: string) => void,
      env: Values = {},
      event: unknown = {},
    ) =>
      runStep({
        event,
        main: join(root, 'dist', 'index.js'),
        workspace,
        onLine,
        env,
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
      /** Issues the tokens of workflow runs, in the place of GitHub. */
      issuer,
      /** Receives the webhooks of runs. The repository's graph configuration file allows its address. */
      receiver,
      repository,
      fullName,
      repoUrl,
      folder,
      step,
      /** Pushes a commit and runs the Action on it, as a workflow does on a push. */
      async deploy(
        commit: string,
        inputs: Values,
        onLine: (line: string) => void,
        target = { repository, fullName },
      ): Promise<StepResult> {
        await target.repository.push();
        const runVariables = {
          GITHUB_REPOSITORY: target.fullName,
          GITHUB_REF: 'refs/heads/main',
          GITHUB_SHA: commit,
          GITHUB_EVENT_NAME: 'push',
          GITHUB_ACTOR: 'mona',
        };
        return step(
          target.repository.folder,
          { 'repo-url': github.gitUrl(target.fullName), ...inputs },
          runVariables,
          onLine,
        );
      },
      /** Counts the revisions of a deployment. */
      countRevisions: async (deploymentId: string): Promise<number> =>
        (await control.listRevisions(deploymentId, { limit: 100 })).resources.length,
      /** Starts the App, or starts it again. */
      async startApp(): Promise<AppProcess> {
        app = await startAppProcess({ root, github, service, data: appData, port });
        stoppables.push(app);
        pids.push(app.pid);
        return app;
      },
      async killApp(): Promise<AppProcess | undefined> {
        await app?.kill();
        return app;
      },
      pids,
      removeAll,
    };
  } catch (error) {
    await removeAll(() => undefined);
    throw error;
  }
}

/** What the demo has to stop and remove. */
interface DemoResources {
  /** Started parts, in order. A stopped one is removed from the list, so that none is stopped twice. */
  stoppables: { stop(): Promise<void> }[];
  /** The folder that contains everything else. */
  folder: string;
  /** The data folder of the services, which contains the builds. */
  data: string;
  /** The data folder of the App. */
  appData: string;
}

/**
 * Stops everything, the last started first, and removes every folder. `log` gets a line before each step, because it
 * takes a while.
 */
export async function cleanUp(
  { stoppables, folder, data, appData }: DemoResources,
  log: (text: string) => void,
): Promise<void> {
  log('Ending what was started: the App, the services with their agents, GitHub ...');
  for (const each of stoppables.splice(0).reverse()) await each.stop();
  log('Removing what they made: the builds with all their packages, which takes a minute or more ...');
  // When run as root, databases and builds are in other folders, where nobody would look for them.
  await removeIsolated(data);
  log(`Removing the databases and ${folder} ...`);
  for (const each of [data, appData]) {
    await removeEmbeddedData({ dataDir: join(each, 'postgres'), log: silentLogger });
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** A receiver of the agent's webhooks on this machine. */
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** Receives webhooks on a free loopback port. It responds 204 to each that contains a run. */
export async function startReceiver() {
  const reported = new Map<string, Map<string, ReceivedWebhook>>();
  const receive = async (path: string, body: Promise<unknown>): Promise<number> => {
    const parsed = webhookReceived.safeParse(await body.catch(() => undefined));
    if (!parsed.success) return 400;
    const runs = reported.get(path) ?? new Map<string, ReceivedWebhook>();
    reported.set(path, runs.set(parsed.data.run_id, parsed.data));
    return 204;
  };
  const server = createServer((request, response) => {
    void receive(request.url ?? '', json(request)).then((status) => response.writeHead(status).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver listens at no port.');
  const { port } = address;
  return {
    port,
    /** A webhook address that identifies its sender. */
    addressFor: (sender: string): string => `http://127.0.0.1:${port}/${sender}`,
    /** The webhooks received from a sender: the last one of each run. */
    received: (sender: string): readonly ReceivedWebhook[] => [...(reported.get(`/${sender}`)?.values() ?? [])],
    async stop(): Promise<void> {
      const closed = server[Symbol.asyncDispose]();
      server.closeAllConnections();
      await closed;
    },
  };
}
