// Time from a push to its visible result, on the whole App as `npm start` runs it, with GitHub and our control service on
// this machine: real git, a real build with the packages of the lock file, smoke tests on a real agent. The build alone
// is measured in the same run, on the same repository, without the App being notified.
import { dirname } from 'node:path';
import type { ControlServiceClient } from '../src/client/control.ts';
import { startDemo, type DemoEnvironment } from '../src/demo/environment.ts';
import { commitLinkScript, linkPackages } from '../test/installed-packages.ts';
import { connectBench } from './bench-control.ts';
import type { Measured } from './figure.ts';
import { othersAtRest, rssOf } from './memory-at-rest.ts';
import { isTiny, median, sized, spread } from './rounds.ts';

const root = dirname(import.meta.dirname);

/** How many requests GitHub has answered. */
let requests = 0;
const example = 'echo-agent';
const rounds = sized(3, 1);

/** Maximum duration of a push (ms), polling interval, and how long GitHub must be idle before the next one. */
const maxWaitMs = 180_000;
const lookMs = 50;
const silenceMs = sized(3_000, 500);

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Result of one push: ms since GitHub received it, and the number of requests to GitHub. */
interface Pushed {
  visible: number;
  proven: number;
  requests: number;
}

/** Times of a push, requests for it, and memory. */
export async function push(): Promise<Measured[]> {
  await using ending = new AsyncDisposableStack();
  const environment = await startDemo(root, example);
  environment.github.state.testHooks.onExchange = () => void (requests += 1);
  ending.defer(() => environment.removeAll(() => undefined));
  // Databases survive the process that started them, unless they are stopped.
  const leave = (): void => void ending.disposeAsync().finally(() => process.exit(1));
  process.once('SIGINT', leave).once('SIGTERM', leave);
  ending.defer(() => void process.off('SIGINT', leave).off('SIGTERM', leave));
  const { service, github, repository, repoUrl } = environment;
  const control = connectBench(service);
  ending.defer(() => control.close());

  if (isTiny) await commitLinkScript(repository);
  await repository.push();
  const deployment = await control.createDeployment({
    name: example,
    source: 'github',
    source_config: { repo_url: repoUrl, build_on_push: true, ...(isTiny ? { install_command: linkPackages } : {}) },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [],
  });
  await built(control, deployment.id, deployment.latest_revision_id ?? '');
  await github.install('acme');
  const app = await environment.startApp();

  await silent();
  const atRest = await rssOf(app.pid);
  const alone: number[] = [];
  const pushed: Pushed[] = [];
  for (let round = sized(-1, 0); round < rounds; round += 1) {
    github.sendWebhooksTo(undefined);
    const build = await buildAlone(environment, control, deployment.id, round);
    github.sendWebhooksTo(app.webhookUrl);
    const timed = await pushOnce(environment, round);
    await silent();
    if (round < 0) continue;
    alone.push(build);
    pushed.push({ ...timed, requests: timed.requests() });
  }
  const memory = { ours: atRest, after: await rssOf(app.pid), ...(await othersAtRest(silenceMs)) };
  return figures(pushed, alone, memory);
}

function figures(
  pushed: readonly Pushed[],
  alone: readonly number[],
  memory: { ours: number; after: number; floor: number; peer: number },
): Measured[] {
  const of = (what: keyof Pushed): number[] => pushed.map((each) => each[what]);
  const build = "the build alone: the service's own revision from CREATING to DEPLOYED, without the App";
  return [
    {
      figure: 'push-to-visible-check',
      unit: 'ms',
      ours: median(of('visible')),
      floor: median(alone),
      notes: { ours: 'from the push to the request that creates the first check run', floor: build },
      targets: [],
      spread: spread(of('visible')),
    },
    {
      figure: 'push-to-live-and-proven',
      unit: 'ms',
      ours: median(of('proven')),
      floor: median(alone),
      notes: { ours: 'from the push to the green check: built, live, four smoke tests passed', floor: build },
      targets: [],
      spread: spread(of('proven')),
    },
    {
      figure: 'github-requests-a-push',
      unit: 'requests',
      ours: median(of('requests')),
      notes: { ours: 'all requests to GitHub for one push to one deployment, tokens included' },
      targets: [],
    },
    {
      figure: 'memory-at-rest',
      unit: 'MB RSS',
      ours: memory.ours,
      floor: memory.floor,
      peer: memory.peer,
      notes: {
        ours: `the App's process after its start, without its database's (${Math.round(memory.after)} after the pushes)`,
        floor: 'a bare server by node:http',
        peer: "a server with Probot's own middleware",
      },
      targets: [],
    },
  ];
}

/** Commits a change that leaves the lock file as it is. */
async function change({ repository }: DemoEnvironment, words: string): Promise<string> {
  await repository.edit('README.md', /$/, `\n${words}\n`);
  return repository.commit(words);
}

/** How long the service takes for the head by itself (ms), by its own clock. */
async function buildAlone(
  environment: DemoEnvironment,
  control: ControlServiceClient,
  id: string,
  round: number,
): Promise<number> {
  await change(environment, `Change ${round}, without the App`);
  await environment.repository.push();
  const { latest_revision_id: latest } = await control.patchDeployment(id, {
    source_revision_config: { repo_ref: 'main' },
  });
  return built(control, id, latest ?? '');
}

/** Waits until a revision is live. @returns how long it took by the service's clock (ms) */
async function built(control: ControlServiceClient, id: string, revisionId: string): Promise<number> {
  for (const until = performance.now() + maxWaitMs; performance.now() < until; await pause(lookMs)) {
    const { status, created_at, updated_at, status_message } = await control.getRevision(id, revisionId);
    if (status === 'DEPLOYED') return timeOf(updated_at) - timeOf(created_at);
    if (status.endsWith('FAILED')) throw new Error(`the build ended ${status}: ${status_message ?? ''}`);
  }
  throw new Error(`revision ${revisionId} was not live in time`);
}

function timeOf(notes: string | null | undefined): number {
  const time = Date.parse(notes ?? '');
  if (Number.isNaN(time)) throw new Error('the service returned no time for a revision');
  return time;
}

/** One push with git, and when GitHub heard of its check. `requests` counts until it is called. */
async function pushOnce(
  environment: DemoEnvironment,
  round: number,
): Promise<Omit<Pushed, 'requests'> & { requests: () => number }> {
  const { github, repository } = environment;
  const commit = await change(environment, `Change ${round}`);
  const heard: { visible?: number; proven?: number; ended?: string } = {};
  github.state.testHooks.intercept = ({ method, template, body }) => {
    if (!template.includes('/check-runs')) return undefined;
    if (method === 'POST' && body['head_sha'] === commit) heard.visible ??= Date.now();
    if (typeof body['conclusion'] === 'string') heard.ended = body['conclusion'];
    if (body['conclusion'] === 'success') heard.proven ??= Date.now();
    return undefined;
  };
  const before = requests;
  await repository.push();
  const at = github.deliveries().findLast(({ event }) => event === 'push')?.at;
  if (at === undefined) throw new Error('GitHub delivered nothing');
  const until = performance.now() + maxWaitMs;
  while (heard.ended === undefined && performance.now() < until) await pause(lookMs);
  const { visible, proven, ended } = heard;
  if (visible === undefined || proven === undefined) throw new Error(`the check ended ${ended ?? 'not at all'}`);
  return { visible: visible - at, proven: proven - at, requests: () => requests - before };
}

/** Waits until GitHub receives no more requests. */
async function silent(): Promise<void> {
  for (let seen = -1; seen !== requests;) {
    seen = requests;
    await pause(silenceMs);
  }
}
