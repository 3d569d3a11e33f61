import { previewKeyOf } from '../../../src/deploy/rules/preview.ts';
import type { ModelDeployment } from '../simulation/model-deployment.ts';
import type { ModelPull } from '../simulation/model-pulls.ts';
import type { Simulation } from '../simulation/simulation.ts';
import { repository } from '../simulation/terms.ts';

/** How long a preview may live after its pull request was closed, or the App was uninstalled (ms). */
const orphanMs = 15 * 60_000;

/** What of a history is not as it has to be of previews, and of what is not one. */
export function previewViolations(simulation: Simulation): string[] {
  const { setting, control, jobs, pulls } = simulation;
  if (!setting.previews) return [];
  const all = [...control.deployments.values()];
  const own = all.filter(isMade);
  return [
    ...own.flatMap((life) => [...violationsOf(life, simulation), ...doubled(life, simulation)]),
    ...own.flatMap((life, index) =>
      own.slice(0, index).some((other) => isDouble(life, other)) ? [`${life.name} is there twice`] : [],
    ),
    ...all.filter((each) => !isMade(each)).flatMap((each) => harmed(each, simulation)),
    ...(own.filter(({ goneAt }) => goneAt === Infinity).length > setting.previews.max
      ? ['there are more than max']
      : []),
    ...[...pulls].flatMap(([number, pull]) => unreached(number, pull, simulation)),
    ...[...jobs.failures.keys()]
      .filter((each) => /^(preview-|sweep)/.test(each) && !/the database is unavailable/.test(each))
      .map((failure) => `a job failed: ${failure}`),
  ];
}

/** What the App created. Whoever else made a deployment made its first revision. */
const isMade = ({ all: [first] }: ModelDeployment): boolean => first?.madeBy.who === 'app';

/** What is not a preview is neither removed nor given a preview's fields, and what no push is for gets no revision. */
function harmed(held: ModelDeployment, { deploymentIds }: Simulation): string[] {
  const { id, name, goneAt, secrets, all, built } = held;
  const isDeployed = deploymentIds.some((each) => each === id);
  const hasOwnSecrets = secrets.some((each) => each.name === 'PRODUCTION_KEY' && each.value === 'production-value');
  const isForeign = built.some(({ repoUrl }) => repoUrl !== built[0]?.repoUrl);
  const isKept = goneAt === Infinity && hasOwnSecrets && !isForeign && (isDeployed || all.length === 1);
  return isKept ? [] : [`${name} is not the App's, and was changed or removed`];
}

const markIn = ({ secrets }: ModelDeployment): string =>
  secrets.find(({ name }) => name === 'LANDFALL_PREVIEW')?.value ?? '';

const isDouble = (one: ModelDeployment, other: ModelDeployment): boolean =>
  markIn(one) === markIn(other) && one.createdAt < other.goneAt && other.createdAt < one.goneAt;

const pullOf = ({ secrets }: ModelDeployment, { pulls }: Simulation): ModelPull | undefined =>
  pulls.get(previewKeyOf({ secrets: [...secrets] })?.number ?? 0);

/** A commit has one revision, and one more each time that a person requests it. */
function doubled(life: ModelDeployment, simulation: Simulation): string[] {
  const pull = pullOf(life, simulation);
  if (!simulation.control.offers.pinsCommits || !pull) return [];
  const made = Map.groupBy(life.all, ({ pinned, commit }) => pinned ?? commit);
  return [...made].flatMap(([commit, revisions]) =>
    revisions.length > 1 + pull.requested ? [`${life.name} has ${revisions.length} revisions of ${commit}`] : [],
  );
}

function violationsOf(life: ModelDeployment, simulation: Simulation): string[] {
  const { name, secrets, createdAt, goneAt, built, all } = life;
  const { clock, previewing, pulls } = simulation;
  const { uninstalledAt, entry } = previewing;
  const key = previewKeyOf({ secrets: [...secrets] });
  const pull = key && pulls.get(key.number);
  if (!key || !pull) return [`${name} is of no pull request`];
  const expected = pull.state.isFork ? 'FORK_KEY=fork-value' : 'OWN_KEY=preview-value';
  const given = secrets.filter((each) => each.name !== 'LANDFALL_PREVIEW').map((each) => `${each.name}=${each.value}`);
  const end = Math.min(goneAt, clock.now());
  const ends = [
    ...pull.closed,
    { from: pull.closedAt, until: Infinity },
    ...(uninstalledAt === undefined ? [] : [{ from: uninstalledAt, until: Infinity }]),
  ];
  return [
    ...(key.repositoryId === repository.repositoryId && key.entry === entry ? [] : [`${name} has another mark`]),
    ...(given.join() === expected ? [] : [`${name} has the secrets ${given.join()}`]),
    ...(all.some(({ copied }) => copied) ? [`${name} runs the build of another deployment`] : []),
    ...built.flatMap(({ repoUrl, commit }) => {
      // One that was never built has no commit.
      if (repoUrl !== pull.state.headUrl || (commit !== '' && !pull.pushed.includes(commit)))
        return [`${name} was built from ${repoUrl} at ${commit}`];
      const runsUnapproved = pull.state.isFork && !pull.approved.has(commit);
      return runsUnapproved ? [`${name} runs ${commit} of a fork, which nobody approved`] : [];
    }),
    ...ends.flatMap(({ from, until }) => {
      const begin = Math.max(createdAt, from + orphanMs);
      return end > begin && begin < until
        ? [`${name} lives ${Math.round((end - from) / 60_000)} minutes after the end of #${key.number}`]
        : [];
    }),
  ];
}

/** An open pull request has the preview of its newest commit in the end, where nothing stands against one. */
function unreached(number: number, pull: ModelPull, simulation: Simulation): string[] {
  const { setting, control, deliveries, previewing } = simulation;
  const { isOutOfFile, uninstalledAt } = previewing;
  const { when = 'never', expiresAfter, max = 0 } = setting.previews ?? {};
  const { state, approved, changedAt } = pull;
  const isWanted =
    state.isOpen &&
    uninstalledAt === undefined &&
    !isOutOfFile &&
    expiresAfter === '7d' &&
    max > 1 &&
    (state.isFork ? false : when === 'always' || (when !== 'command' && state.labels.includes('preview')));
  const alive = control.alive.find((each) => isMade(each) && pullOf(each, simulation) === pull);
  const isKnown = deliveries.some(
    ({ requests, storedAt = -1 }) => requests.kind === 'event' && requests.about === number && storedAt >= changedAt,
  );
  if (isWanted && isKnown && alive?.all.findLast(({ status }) => status !== 'SKIPPED')?.commit !== state.headSha)
    return [`#${number} has no preview of its head`];
  const isUnwanted = !state.isOpen || uninstalledAt !== undefined || (state.isFork && approved.size === 0);
  return alive && isUnwanted ? [`#${number} has a preview in the end`] : [];
}
