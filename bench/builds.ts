import { silentLogger } from '../src/kit/logger.ts';
// What a revision takes until it is live, by the service's own clock: the first build of a repository, a second one with the
// same lock file, and the older revision once more. The whole service as `npm run local` starts it, a real agent with the
// packages of its lock file, and for each round a data folder in which nothing is kept yet.
import { join } from 'node:path';
import type { ControlServiceClient } from '../src/client/control.ts';
import { startLocalService } from '../src/demo/processes.ts';
import { Repository } from '../src/demo/repository.ts';
import { removeIsolated } from '../src/services/control/isolation/isolation.ts';
import { removeEmbeddedData } from '../src/kit/postgres/embedded.ts';
import { commitLinkScript, linkPackages } from '../test/installed-packages.ts';
import { connectBench } from './bench-control.ts';
import { benchFolder } from './bench-postgres.ts';
import type { Measured } from './figure.ts';
import { isTiny, median, sized, spread } from './rounds.ts';

const root = join(import.meta.dirname, '..');
const example = 'echo-agent';
const rounds = sized(3, 1);

/** How long a revision may take (ms), and how often it is looked at. */
const maxWaitMs = 180_000;
const lookMs = 50;

/** Milliseconds from the creation of a revision until it is live. */
interface Round {
  first: number;
  second: number;
  redeploy: number;
}

/** Times of a first build, a second one, and a redeploy. */
export async function builds(): Promise<Measured[]> {
  const measured: Round[] = [];
  for (let round = 0; round < rounds; round += 1) measured.push(await playRound());
  const of = (what: keyof Round): number[] => measured.map((each) => each[what]);
  const [first, second, redeploy] = [median(of('first')), median(of('second')), median(of('redeploy'))];
  const notes = { first: 'the first build', redeploy: 'the redeploy, which builds nothing' };
  return [
    {
      figure: 'first-build',
      unit: 'ms',
      ours: first,
      floor: redeploy,
      notes: { ours: 'nothing is kept: cloned, installed by npm with its downloads, started', floor: notes.redeploy },
      targets: [],
      spread: spread(of('first')),
    },
    {
      figure: 'second-build',
      unit: 'ms',
      ours: second,
      floor: redeploy,
      peer: first,
      notes: { ours: 'another commit with the same lock file', floor: notes.redeploy, peer: notes.first },
      targets: [{ of: 'peer', most: 0.6 }],
      spread: spread(of('second')),
    },
    {
      figure: 'redeploy',
      unit: 'ms',
      ours: redeploy,
      peer: first,
      notes: { ours: 'the first revision once more, from its build', peer: notes.first },
      targets: [{ of: 'ours', most: 1_000 }],
      spread: spread(of('redeploy')),
    },
  ];
}

async function playRound(): Promise<Round> {
  await using ending = new AsyncDisposableStack();
  const folder = ending.use(benchFolder());
  const data = join(folder.path, 'data');
  const repository = await Repository.fromExample(join(root, 'examples', example), join(folder.path, 'git', example));
  if (isTiny) await commitLinkScript(repository);
  ending.defer(async () => {
    await removeIsolated(data);
    await removeEmbeddedData({ dataDir: join(data, 'postgres'), log: silentLogger });
  });
  const service = await startLocalService({ root, data, allowGit: join(folder.path, 'git') });
  ending.defer(() => service.stop());
  const control = connectBench(service);
  ending.defer(() => control.close());

  const { id, latest_revision_id: started } = await control.createDeployment({
    name: example,
    source: 'github',
    source_config: { repo_url: repository.folder, ...(isTiny ? { install_command: linkPackages } : {}) },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [],
  });
  const first = await live(control, id, started);
  await repository.edit('README.md', /$/, '\nA change that leaves the lock file as it is.\n');
  await repository.commit('A change');
  const restated = await control.patchDeployment(id, { source_revision_config: { repo_ref: 'main' } });
  const second = await live(control, id, restated.latest_revision_id);
  const again = await control.redeployRevision(id, started ?? '');
  return { first, second, redeploy: await live(control, id, again.latest_revision_id) };
}

/** Waits until a revision is live. @returns how long it took by the service's clock (ms) */
async function live(control: ControlServiceClient, id: string, revisionId: string | null): Promise<number> {
  for (const until = performance.now() + maxWaitMs; performance.now() < until;) {
    const { status, created_at, updated_at, status_message } = await control.getRevision(id, revisionId ?? '');
    if (status === 'DEPLOYED') return timeOf(updated_at) - timeOf(created_at);
    if (status.endsWith('FAILED')) throw new Error(`the revision ended ${status}: ${status_message ?? ''}`);
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
  throw new Error(`revision ${revisionId ?? ''} was not live in time`);
}

function timeOf(notes: string | null | undefined): number {
  const time = Date.parse(notes ?? '');
  if (Number.isNaN(time)) throw new Error('the service returned no time for a revision');
  return time;
}
