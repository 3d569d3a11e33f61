// Kills anything at any moment: nothing acknowledged is lost, nothing is stuck, and no revision fails because of it.
// LANDFALL_KILLS=36 for a long sweep; LANDFALL_KILLS_SEED repeats a sequence.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentGroups, buildProcessesBelow } from '../services/control/rollouts/left-behind.ts';
import { listProcesses } from '../../src/services/control/compute/process-list.ts';
import type { Repository } from '../../src/demo/repository.ts';
import { askOf, KillLedger, type Ask } from './kill-ledger.ts';
import { UploadLedger, uploadDeployment } from './uploads.ts';
import { linkPackages } from '../installed-packages.ts';
import { randomFrom } from '../random-from.ts';
import { openJourneyFixture, type JourneyFixture } from './fixture.ts';

const rounds = Number(process.env['LANDFALL_KILLS'] ?? 2);
const seed = Number(process.env['LANDFALL_KILLS_SEED'] ?? 1);

const killEvents = [
  'the database under a starting agent',
  'the service during a rollout',
  'the agent',
  'the database',
  'the service',
  'everything at once',
  'the service twice',
] as const;

let fixture: JourneyFixture;
let repository: Repository;
let deploymentId = '';
let word = 'first';
const ledger = new KillLedger();
/** A second deployment, of uploads. Its agent says the word of the newest upload that was built. */
let uploadedId = '';
let uploadedWord = '';
let uploads: UploadLedger;

const random = randomFrom(seed);

beforeAll(async () => {
  fixture = await openJourneyFixture({ ownPostgres: true });
  repository = await fixture.repository('talker');
  const made = await fixture.control.createDeployment({
    name: 'swept',
    source: 'github',
    source_config: {
      repo_url: pathToFileURL(repository.folder).href,
      build_on_push: false,
      install_command: linkPackages,
    },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [],
  });
  deploymentId = made.id;
  uploadedId = await uploadDeployment(fixture, 'uploaded');
  uploads = new UploadLedger(fixture, uploadedId);
  await uploads.upload();
  await deployUploaded();
  await until('the first revisions', areAtRest);
});
afterAll(async () => fixture?.close(), 120_000);

/** A revision that only an outage can have failed. */
class RevisionFailed extends Error {}

/** Waits for a state of the service; a failure includes the last one seen. */
async function until(what: string, comesTrue: () => Promise<true | string>): Promise<void> {
  let seen: true | string = 'nothing';
  for (const deadline = performance.now() + 180_000; performance.now() < deadline;) {
    seen = await comesTrue().catch((error: unknown) => {
      if (error instanceof RevisionFailed) throw error;
      return String(error);
    });
    if (seen === true) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${what} did not come: ${seen}\n${fixture.service.log().split('\n').slice(-30).join('\n')}`);
}

const areAtRest = async (): Promise<true | string> => {
  const seen = await isAtRest(deploymentId, word);
  return seen === true ? isAtRest(uploadedId, uploadedWord) : seen;
};

/** Every revision has ended, the newest is live, and its agent answers as its commit says. */
async function isAtRest(id: string, says: string): Promise<true | string> {
  const revisions = await fixture.revisions(id);
  const failed = revisions.filter(({ status }) => /FAILED|ERROR|INTERRUPTED/.test(status));
  // A failure is final: waiting does not help.
  if (failed.length > 0)
    throw new RevisionFailed(failed.map((each) => `${each.status}: ${each.status_message}`).join('\n'));
  const [newest] = revisions;
  const { active_revision_id, url } = await fixture.control.getDeployment(id);
  if (newest?.status !== 'DEPLOYED' || active_revision_id !== newest.id) return `newest is ${newest?.status}`;
  const { said } = await fixture.ask(url ?? undefined, 'hello');
  return said === `${says} hello` || `the agent says ${said}`;
}

async function deploy(round: number): Promise<void> {
  const next = `word${round}`;
  await repository.edit('graph.ts', `'${word}'`, `'${next}'`);
  await repository.commit(`Say ${next}`);
  word = next;
  await fixture.control.patchDeployment(deploymentId, { source_revision_config: { repo_ref: 'main' } });
}

/** Builds the newest acknowledged upload. */
async function deployUploaded(): Promise<void> {
  const newest = uploads.acknowledged.at(-1);
  if (!newest) throw new Error('No upload was acknowledged.');
  uploadedWord = newest.word;
  await fixture.control.patchDeployment(uploadedId, { source_revision_config: { source_tarball_path: newest.path } });
}

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It exited between the check and the kill.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
};
const nameOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
};
const parentOf = (pid: number): number => {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return 0;
  }
};

/** The database's first process: the one called postgres whose parent is not. */
function databasePids(): number[] {
  const isBelow = (pid: number): boolean => pid > 1 && (pid === fixture.service.pid || isBelow(parentOf(pid)));
  return listProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => nameOf(pid) === 'postgres' && nameOf(parentOf(pid)) !== 'postgres' && isBelow(pid));
}
const agentPids = (): number[] => [...agentGroups(deploymentId).keys()];

function killDatabase(): void {
  const pids = databasePids();
  expect(pids).toHaveLength(1);
  pids.forEach(kill);
}

async function strike(killEvent: (typeof killEvents)[number], round: number): Promise<void> {
  const restart = async (): Promise<void> => {
    await fixture.kill();
    await fixture.startAgain();
  };
  switch (killEvent) {
    case 'the service':
      return restart();
    case 'the service twice':
      await restart();
      return restart();
    case 'the database':
      return killDatabase();
    case 'the agent': {
      const pids = agentPids();
      if (pids.length === 0) throw new Error('No agent runs that could be killed.');
      return pids.forEach((pid) => kill(-pid));
    }
    case 'everything at once':
      agentPids().forEach((pid) => kill(-pid));
      killDatabase();
      return restart();
    case 'the service during a rollout': {
      await deploy(round);
      await new Promise((resolve) => setTimeout(resolve, random() * 2_000));
      return restart();
    }
    case 'the database under a starting agent': {
      const before = new Set(agentPids());
      await deploy(round);
      await until('the next agent', async () => agentPids().some((pid) => !before.has(pid)) || 'no new process');
      await new Promise((resolve) => setTimeout(resolve, random() * 1_500));
      return killDatabase();
    }
  }
}

test('loses, sticks and fails nothing, whatever is killed', { timeout: 60_000 + rounds * 240_000 }, async () => {
  const first = (seed - 1) % killEvents.length;
  const { url } = await fixture.control.getDeployment(deploymentId);
  const ask: Ask = (...args) => askOf(url ?? '', fixture.service.apiKey)(...args);
  const wrong: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const killEvent = killEvents[(first + round) % killEvents.length] ?? 'the service';
    const enough = new AbortController();
    const clients = [...[1, 2].map(() => ledger.write(ask, enough.signal)), uploads.write(enough.signal)];
    await new Promise((resolve) => setTimeout(resolve, 200 + random() * 800));
    try {
      await deployUploaded();
      await strike(killEvent, round);
      await until(`Round ${round}, ${killEvent}: rest`, areAtRest);
    } finally {
      enough.abort();
      await Promise.all(clients);
    }
    // Runs under way end by themselves; a lost one stays lost.
    await until(`Round ${round}, ${killEvent}: what was acknowledged`, async () => {
      wrong.splice(0, wrong.length, ...(await ledger.missing(ask)), ...uploads.missing());
      return wrong.length === 0 || wrong.slice(0, 3).join('\n');
    });
    if (rounds > 7)
      console.info(
        `round ${round + 1} of ${rounds}, ${killEvent}: ${ledger.counts}, ${uploads.acknowledged.length} uploads`,
      );
  }
  expect(ledger.threads.size).toBeGreaterThan(rounds);
  expect(uploads.acknowledged.length).toBeGreaterThan(rounds);
  expect(new Set((await fixture.revisions(deploymentId)).map(({ status }) => status))).toEqual(new Set(['DEPLOYED']));
  expect(buildProcessesBelow(`${fixture.folder}/data`)).toBe(0);
  // A former agent may stay for a while, but it ends with the service.
  await fixture.service.stop();
  expect(agentPids()).toEqual([]);
});
