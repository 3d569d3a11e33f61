// What a bad candidate serves while it is tested: the whole service as `npm run local` starts it, the Action as a runner
// starts it, and 200 requests per second to the live address, each of which says which revision answered.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Pool } from 'undici';
import * as z from 'zod';
import { systemClock } from '../src/kit/clock.ts';
import { removeIsolated } from '../src/services/control/isolation/isolation.ts';
import { type LocalService, startLocalService } from '../src/demo/processes.ts';
import { Repository } from '../src/demo/repository.ts';
import { runStep, type StepResult } from '../src/demo/runner.ts';
import { silentLogger } from '../src/kit/logger.ts';
import { removeEmbeddedData } from '../src/kit/postgres/embedded.ts';
import { commitLinkScript, linkPackages } from '../test/installed-packages.ts';
import { benchFolder } from './bench-postgres.ts';
import type { Measured } from './figure.ts';
import { median, quantile, sized } from './rounds.ts';

const root = join(import.meta.dirname, '..');
const example = 'echo-agent';
const rate = sized(200, 2);

const smokeTests = JSON.stringify([
  {
    name: 'greets',
    assistant: 'echo',
    input: { input: 'Ada' },
    expect: { values: [{ path: '$.output', equals: 'hello Ada' }] },
  },
]);

const info = z.looseObject({ metadata: z.looseObject({ revision_id: z.string() }) });

/** What was sent while a candidate was deployed. */
interface Load {
  byRevision: Map<string, number>;
  ms: number[];
  perSecond: number;
}

/** Sends requests at a steady rate to the live address until the work is done. */
async function underLoad<T>(
  address: string,
  apiKey: string,
  work: () => Promise<T>,
): Promise<{ value: T; load: Load }> {
  const { origin, pathname } = new URL(address);
  const pool = new Pool(origin, { connections: 16 });
  const load: Load = { byRevision: new Map(), ms: [], perSecond: 0 };
  const sendOne = async (): Promise<void> => {
    const sentAt = performance.now();
    const reply = await pool.request({ method: 'GET', path: `${pathname}/info`, headers: { 'x-api-key': apiKey } });
    const { metadata } = info.parse(await reply.body.json());
    load.ms.push(performance.now() - sentAt);
    load.byRevision.set(metadata.revision_id, (load.byRevision.get(metadata.revision_id) ?? 0) + 1);
  };
  const done = new AbortController();
  const began = performance.now();
  const sent: Promise<void>[] = [];
  const sending = (async () => {
    while (!done.signal.aborted) {
      // As many as are due: a timer that was late loses none.
      while (sent.length < ((performance.now() - began) / 1_000) * rate) sent.push(sendOne());
      await systemClock.sleep(5);
    }
  })();
  try {
    const value = await work();
    done.abort();
    await sending;
    await Promise.all(sent);
    load.perSecond = load.ms.length / ((performance.now() - began) / 1_000);
    return { value, load };
  } finally {
    done.abort();
    await pool.close();
  }
}

/** Deploys a candidate with a wrong answer before traffic, and again once it is live with a rollback. */
async function playRound(): Promise<{ held: Load; heldServed: number; liveServed: number }> {
  await using ending = new AsyncDisposableStack();
  const folder = ending.use(benchFolder());
  const [data, git] = [join(folder.path, 'data'), join(folder.path, 'git')];
  const repository = await Repository.fromExample(join(root, 'examples', example), join(git, example));
  await commitLinkScript(repository);
  ending.defer(async () => {
    await removeIsolated(data);
    await removeEmbeddedData({ dataDir: join(data, 'postgres'), log: silentLogger });
  });
  const service = await startLocalService({ root, data, allowGit: git });
  ending.defer(() => service.stop());

  const first = await deployed(service, repository, {}, 'deployed');
  const address = first['deployment-url'] ?? '';
  await repository.edit('src/graph.ts', '${input}`', 'wrong`');
  await repository.commit('Lose the thread');
  const during = (inputs: Record<string, string>, outcome: string) =>
    underLoad(address, service.apiKey, () => deployed(service, repository, inputs, outcome));
  const held = await during({}, 'discarded');
  const live = await during({ verify: 'after-traffic', 'on-failure': 'rollback' }, 'rolled-back');
  const servedBy = ({ value, load }: typeof held) => load.byRevision.get(value['revision-id'] ?? '') ?? 0;
  return { held: held.load, heldServed: servedBy(held), liveServed: servedBy(live) };
}

async function deployed(
  service: LocalService,
  repository: Repository,
  inputs: Record<string, string>,
  outcome: string,
): Promise<StepResult['outputs']> {
  const { outputs } = await runStep({
    main: join(root, 'dist/index.js'),
    workspace: repository.folder,
    inputs: {
      'base-url': service.url,
      'api-key': service.apiKey,
      name: example,
      source: 'github',
      'repo-url': pathToFileURL(repository.folder).href,
      'repo-ref': 'main',
      'graph-config-path': 'langgraph.json',
      'install-command': linkPackages,
      'smoke-tests': smokeTests,
      'poll-seconds': '0.5',
      'timeout-minutes': '5',
      ...inputs,
    },
  });
  if (outputs['outcome'] !== outcome) throw new Error(`not ${outcome}: ${outputs['outcome']}, ${outputs['reason']}`);
  return outputs;
}

/** Figures of a bad candidate under load. */
export async function beforeTraffic(): Promise<Measured[]> {
  const { held, heldServed, liveServed } = await playRound();
  const sent = held.ms.length;
  return [
    {
      figure: 'bad-candidate-served',
      unit: 'requests',
      ours: heldServed,
      peer: liveServed,
      notes: {
        ours: `of ${sent} to the live address, while it was built, tested and discarded`,
        peer: 'the same candidate tested once it was live, and rolled back',
      },
      targets: [{ of: 'ours', most: 0 }],
    },
    {
      figure: 'live-during-candidate',
      unit: 'requests/s',
      ours: held.perSecond,
      notes: { ours: 'answered by the live revision meanwhile' },
      targets: [],
      times: { ours: { p50: median(held.ms), p99: quantile(held.ms, 0.99) } },
    },
  ];
}
