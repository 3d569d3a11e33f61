import { previewKeyOf } from '../../../src/deploy/rules/preview.ts';
import { repository } from './a-preview.ts';
import type { Life } from './model-service.ts';
import type { ModelPull, PreviewWorld } from './preview-world.ts';

/** How long a preview may live after its pull request was closed, or the App was uninstalled (ms). */
const orphanMs = 15 * 60_000;

/** What of a history is not as it has to be. */
export function previewViolations(world: PreviewWorld): string[] {
  const own = world.service.lives.slice(world.others.length);
  return [
    ...own.flatMap((life) => violationsOf(life, world)),
    ...own.flatMap((life, index) =>
      own.slice(0, index).some((other) => isDouble(life, other)) ? [`${life.name} is there twice`] : [],
    ),
    ...world.service.lives
      .slice(0, world.others.length)
      .flatMap(({ name, goneAt, built }) =>
        goneAt === Infinity && built.length === 1 ? [] : [`${name} is not the App's, and was changed or removed`],
      ),
    ...(own.filter(({ goneAt }) => goneAt === Infinity).length > world.setting.max ? ['there are more than max'] : []),
    ...[...world.pulls].flatMap(([number, pull]) => unreached(number, pull, world)),
    ...[...world.jobs.failures.keys()]
      .map((failure) => `a job failed: ${failure}`)
      .filter((each) => !/the database is unavailable/.test(each)),
  ];
}

const markIn = ({ secrets }: Life): string => secrets.find(({ name }) => name === 'LANDFALL_PREVIEW')?.value ?? '';

const isDouble = (one: Life, other: Life): boolean =>
  markIn(one) === markIn(other) && one.createdAt < other.goneAt && other.createdAt < one.goneAt;

function violationsOf(life: Life, world: PreviewWorld): string[] {
  const { name, secrets, createdAt, goneAt, built } = life;
  const key = previewKeyOf({ secrets: [...secrets] });
  const pull = key && world.pulls.get(key.number);
  if (!key || !pull) return [`${name} is of no pull request`];
  const expected = pull.state.isFork ? 'FORK_KEY=fork-value' : 'OWN_KEY=preview-value';
  const given = secrets.filter((each) => each.name !== 'LANDFALL_PREVIEW').map((each) => `${each.name}=${each.value}`);
  const end = Math.min(goneAt, world.clock.now());
  const ends = [
    ...pull.closed,
    { from: pull.closedAt, until: Infinity },
    ...(world.uninstalledAt === undefined ? [] : [{ from: world.uninstalledAt, until: Infinity }]),
  ];
  return [
    ...(key.repositoryId === repository.repositoryId && key.entry === 'support' ? [] : [`${name} has another mark`]),
    ...(given.join() === expected ? [] : [`${name} has the secrets ${given.join()}`]),
    ...built.flatMap(({ repoUrl, commit }) => {
      if (repoUrl !== pull.state.headUrl || !pull.pushed.includes(commit))
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
function unreached(number: number, pull: ModelPull, world: PreviewWorld): string[] {
  const { setting, service, uninstalledAt, isOutOfFile } = world;
  const { state, approved } = pull;
  const isWanted =
    state.isOpen &&
    uninstalledAt === undefined &&
    !isOutOfFile &&
    setting.expiresAfter === '7d' &&
    setting.max > 1 &&
    (state.isFork
      ? false
      : setting.when === 'always' || (setting.when !== 'command' && state.labels.includes('preview')));
  const alive = service.alive.find(({ secrets }) => {
    const key = previewKeyOf({ secrets: [...secrets] });
    return key?.repositoryId === repository.repositoryId && key.number === number;
  });
  const isKnown = pull.heardAt >= pull.changedAt;
  if (isWanted && isKnown && alive?.built.at(-1)?.commit !== state.headSha)
    return [`#${number} has no preview of its head`];
  const isUnwanted = !state.isOpen || uninstalledAt !== undefined || (state.isFork && approved.size === 0);
  return alive && isUnwanted ? [`#${number} has a preview in the end`] : [];
}
