import { loggerTo } from '../../logger.ts';
// A burst of pushes, taken by two copies of the App on one database.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../../src/kit/postgres/database.ts';
import { randomFrom } from '../../random-from.ts';
import { startAppCopy, type AppCopy } from './app-copy.ts';
import { startBurstService, type BurstService } from './burst-service.ts';
import { changed, deployAll, quiet, type BurstSize, type Deployed } from './deployed.ts';
import { headOf, startModelGitHub, type ModelGitHub, type ModelRepository, type ModelWebhook } from './github-model.ts';

/** Where it takes place. */
export interface BurstFixture {
  /** Emptied and removed by its creator; other users may traverse it. */
  folder: string;
  /** Two empty databases. */
  appDatabaseUrl: string;
  serviceDatabaseUrl: string;
}

/** The final state of a deployment. */
export interface BurstEnd {
  name: string;
  isReal: boolean;
  head: string;
  /** The commit of the revision that serves. */
  live: string | undefined;
  /** The commit of each revision, the first one's too. */
  commits: string[];
  /** The ids of its revisions, newest first. */
  revisions: string[];
}

/** The result of the burst. */
export interface BurstEnds {
  deployments: BurstEnd[];
  /** How many webhooks were answered with what. */
  answers: Record<string, number>;
  /** Checks with their commits: those of which there is more than one, and those that are still open. */
  doubledChecks: string[];
  openChecks: string[];
  /** How many there are. */
  checks: number;
  /** How many checks have which conclusion. */
  conclusions: Record<string, number>;
  /** Revisions with no cause or several; and causes with several revisions. */
  doubledRevisions: string[];
  /** Deliveries that each copy handled. */
  handled: number[];
  githubRequests: number;
  /** From the first webhook to the last response, until nothing is left to deploy, and until all is reported (ms). */
  answeredMs: number;
  deployedMs: number;
  quietMs: number;
}

/** Runs the burst and returns its results. */
export async function playBurst(play: BurstFixture, size: BurstSize): Promise<BurstEnds> {
  await using ending = new AsyncDisposableStack();
  const github = await startModelGitHub();
  ending.defer(() => github.close());
  const gitFolder = join(play.folder, 'git');
  mkdirSync(gitFolder, { recursive: true });
  const repositories = new Map<string, ModelRepository>();
  const logged: string[] = [];
  const service = await startBurstService({
    databaseUrl: play.serviceDatabaseUrl,
    dataDir: join(play.folder, 'data'),
    gitFolder,
    headOf: (repoUrl) => {
      const repository = repositories.get(repoUrl);
      if (!repository) throw new Error(`there is no repository ${repoUrl}`);
      return headOf(repository);
    },
    log: loggerTo((message) => logged.push(message)),
  });
  ending.defer(() => service.close());
  const deployed = await deployAll(size, { github, service, gitFolder, repositories });

  const copies = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const folder = join(play.folder, name);
      mkdirSync(folder);
      const copy = await startAppCopy(folder, settingsOf(github, service, deployed, play));
      ending.defer(async () => void (await copy.stop()));
      return copy;
    }),
  );
  const database = openDatabase({ url: play.appDatabaseUrl, max: 1 });
  ending.defer(() => database.close());

  const began = performance.now();
  const answers = await pushAll(size, deployed, { github, copies });
  const answeredMs = performance.now() - began;
  const count = (query: string) => async (): Promise<number> =>
    Number((await database.pool.query<{ left: string }>(`select ${query} as left`)).rows[0]?.left);
  const undone = `(select count(*) from app.deliveries where handled_at is null)
    + (select count(*) from app.intents where state <> 'ended')`;
  await quiet(count(undone));
  const deployedMs = performance.now() - began;
  await quiet(count(`${undone} + (select count(*) from app.reports where version > reported_version)`));
  const quietMs = performance.now() - began;

  const { rows: made } = await database.pool.query<{ revision: string; causes: number }>(
    `select body ->> 'revisionId' as revision, count(*)::int as causes from app.intents
     where body ->> 'how' = 'triggered' group by 1`,
  );
  const causesOf = new Map(made.map(({ revision, causes }) => [revision, causes]));
  const deployments = await Promise.all(deployed.map((each) => endOf(each, service)));
  const checks = github.checks();
  const named = checks.map(({ repositoryId, name, sha }) => `${repositoryId} ${name} ${sha}`);
  return {
    deployments,
    answers,
    doubledChecks: named.filter((name, at) => named.indexOf(name) !== at),
    checks: checks.length,
    openChecks: checks.flatMap(({ name, sha, status }) => (status === 'completed' ? [] : [`${name} ${sha}`])),
    conclusions: tally(checks.map(({ conclusion = 'none' }) => conclusion)),
    doubledRevisions: deployments.flatMap(({ revisions, name }) =>
      // The first one was there before the App; every other has one cause.
      revisions
        .slice(0, -1)
        .flatMap((id) => (causesOf.get(id) === 1 ? [] : [`${name} ${id}: ${causesOf.get(id) ?? 0}`])),
    ),
    handled: await Promise.all(copies.map((copy) => copy.count('landfall_deliveries_total', 'result="handled"'))),
    githubRequests: [...github.requests.values()].reduce((sum, count) => sum + count, 0),
    answeredMs,
    deployedMs,
    quietMs,
  };
}

const tally = (words: readonly string[]): Record<string, number> =>
  words.reduce<Record<string, number>>((counts, word) => ({ ...counts, [word]: (counts[word] ?? 0) + 1 }), {});

const settingsOf = (
  github: ModelGitHub,
  service: BurstService,
  deployed: readonly Deployed[],
  { appDatabaseUrl }: BurstFixture,
): Record<string, string> => ({
  APP_ID: '1',
  PRIVATE_KEY: Buffer.from(github.privateKey).toString('base64'),
  WEBHOOK_SECRET: github.webhookSecret,
  GITHUB_API_URL: github.url,
  LANDFALL_BASE_URL: service.url,
  LANDFALL_API_KEY: service.apiKey,
  // A folder is no repository of GitHub's, so the operator says whose deployment it is.
  LANDFALL_BINDINGS: deployed
    .filter(({ git }) => git)
    .map(({ name, repository: { owner } }) => `${owner}/${name}=${name}`)
    .join(),
  DATABASE_URL: appDatabaseUrl,
});

/** Heads move and webhooks go out in waves, in which nothing keeps its order and some come twice. */
const waveOf = 100;
const atOnce = 32;
const oneTwiceOf = 20;

async function pushAll(
  size: BurstSize,
  deployed: readonly Deployed[],
  { github, copies }: { github: ModelGitHub; copies: readonly AppCopy[] },
): Promise<Record<string, number>> {
  const chance = randomFrom(size.pushes);
  const statuses: string[] = [];
  const order = shuffled(pushesOf(size, deployed), chance);
  for (let from = 0; from < order.length; from += waveOf) {
    const webhooks: ModelWebhook[] = [];
    for (const { repository, git } of order.slice(from, from + waveOf)) {
      webhooks.push(github.push(repository, git && (await changed(git, repository.commits.length))));
    }
    const again = webhooks.filter((_, at) => at % oneTwiceOf === 0);
    const sent = shuffled([...webhooks, ...again], chance);
    const next = sent.entries();
    const sendAll = async (): Promise<void> => {
      for (const [at, { headers, body }] of next) {
        const copy = copies[at % copies.length];
        if (!copy) throw new Error('there is no copy of the App');
        const answer = await fetch(copy.url, { method: 'POST', headers, body });
        statuses.push(`${answer.status} ${(await answer.text()).trim()}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, sendAll));
  }
  return tally(statuses);
}

/** Which deployment each push is for: as many for each, but for those that are said to get another number. */
function pushesOf({ pushes, pushesToReal }: BurstSize, deployed: readonly Deployed[]): Deployed[] {
  const real = pushesToReal === undefined ? [] : deployed.filter(({ git }) => git);
  const fixed = real.flatMap((each) => Array.from({ length: pushesToReal ?? 0 }, () => each));
  const others = deployed.filter((each) => !real.includes(each));
  const rest = Array.from({ length: pushes - fixed.length }, (_, at) => others[at % others.length]);
  return [...fixed, ...rest.filter((each) => each !== undefined)];
}

function shuffled<Item>(items: readonly Item[], chance: () => number): Item[] {
  return items
    .map((item) => ({ item, place: chance() }))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}

async function endOf({ name, deploymentId, repository, git }: Deployed, { control }: BurstService): Promise<BurstEnd> {
  const { active_revision_id: active } = await control.getDeployment(deploymentId);
  const { resources } = await control.listRevisions(deploymentId, { limit: 100 });
  const commitOf = (revision: (typeof resources)[number] | undefined): string | undefined =>
    revision?.source_revision_config.repo_commit_sha ?? undefined;
  return {
    name,
    isReal: git !== undefined,
    head: headOf(repository),
    live: commitOf(resources.find(({ id }) => id === active)),
    commits: resources.map((revision) => commitOf(revision) ?? 'none'),
    revisions: resources.map(({ id }) => id),
  };
}
