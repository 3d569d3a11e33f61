import { fullName } from '../repository.ts';
import type { Cause, Intent } from '../work/intent.ts';
import { checkName, commitCheckName } from '../work/report.ts';
import type { World } from '../world.ts';
import type { DecisionOf } from './event-types.ts';
import type { Handler, Handling } from './handling.ts';
import { lookAtBranch, restating, wantedOnce } from './look-at-branch.ts';
import { noteOnCheck } from './note-on-check.ts';
import { targetFor } from './target-for.ts';

/** Re-run: every deployment whose check is meant is wished for again, at the commit that the check stands on. */
export const onRerun: Handler<'rerun'> = async (decision, handling) => {
  const { repository, headSha, check, by } = decision;
  const { world, delivery } = handling;
  const cause: Cause = { kind: 'rerun', key: delivery, by, at: world.clock.now() };
  const intents = newestOfEach(await world.store.intentsAt(repository.repositoryId, headSha));
  const meant = intents.filter(({ terms }) => check === undefined || checkName(terms.deploymentName) === check.name);
  const did: string[] = [];
  for (const intent of meant) did.push(await wishAgain(intent, cause, decision, world));
  const isCommitMeant = check === undefined || check.name === commitCheckName;
  if (isCommitMeant) did.push(...(await commitAgain(decision, handling)));
  if (isCommitMeant || meant.length === 0) did.push(...(await lookAgain(decision, cause, world)));
  return did;
};

async function wishAgain(
  { deploymentId, branch, terms }: Intent,
  cause: Cause,
  { repository, headSha }: DecisionOf<'rerun'>,
  world: World,
): Promise<string> {
  const name = terms.deploymentName;
  const found = await targetFor({ repository, branch, deploymentId, deploymentName: name }, world);
  if (!found.ok) {
    return noteOnCheck(world, { repository, headSha, name: checkName(name) }, `Not run again: ${found.why}`);
  }
  await world.store.wish(restating(found.target, { repository, branch, commit: headSha }, cause));
  return `wished for ${name} again`;
}

/** The check that speaks of the commit as a whole is told again, by whoever it speaks of. */
async function commitAgain(
  { repository, headSha, pullRequests }: DecisionOf<'rerun'>,
  { world: { store, clock }, pullRequests: desk }: Handling,
): Promise<string[]> {
  for (const pull of pullRequests) await desk.examine(pull);
  const examined = pullRequests.map(({ number }) => `examined pull request ${number}`);
  const report = await store.reportOf(repository.repositoryId, headSha, commitCheckName);
  if (report?.wanted.kind !== 'check' || report.wanted.content.status !== 'completed') return examined;
  // GitHub waits for a new word even where it is the old one: the time makes it new.
  const content = { ...report.wanted.content, completedAt: new Date(clock.now()).toISOString() };
  const wanted = { kind: 'check', content } as const;
  await store.putReport(
    { kind: 'check', repository: report.repository, headSha, name: report.name, wanted },
    report.version,
  );
  return [...examined, 'told the check of the commit again'];
}

/** What nobody has asked for yet is looked at as if the branch were pushed now. */
async function lookAgain(
  { repository, headSha, branch }: DecisionOf<'rerun'>,
  cause: Cause,
  world: World,
): Promise<string[]> {
  if (branch === undefined) return [`the check names no branch of ${fullName(repository)}`];
  return lookAtBranch(world, { repository, branch, commit: headSha }, cause, wantedOnce(world));
}

/** The last word of each deployment. */
function newestOfEach(intents: readonly Intent[]): Intent[] {
  return [...new Map(intents.map((intent) => [intent.deploymentId, intent])).values()];
}
