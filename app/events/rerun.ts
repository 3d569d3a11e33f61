import { fullName } from '../repository.ts';
import type { Cause, Intent } from '../reconcile/intent.ts';
import { checkName, commitCheckName } from '../reconcile/report.ts';
import type { AppContext } from '../context.ts';
import type { DecisionOf, Handler, Handling } from './event-types.ts';
import { requestBranch, buildBranchRequest, unlessRequested } from './request-branch.ts';
import { noteOnCheck } from './note-on-check.ts';
import { targetFor } from '../targets/target-resolver.ts';

/** Re-run: requests every deployment of the check again, at the commit of the check. */
export const onRerun: Handler<'rerun'> = async (decision, handling) => {
  const { repository, headSha, check, by } = decision;
  const { context, delivery } = handling;
  const cause: Cause = { kind: 'rerun', key: delivery, by, at: context.clock.now() };
  const intents = newestOfEach(await context.store.intentsAt(repository.repositoryId, headSha));
  const meant = intents.filter(({ terms }) => check === undefined || checkName(terms.deploymentName) === check.name);
  const did: string[] = [];
  for (const intent of meant) did.push(await requestAgain(intent, cause, decision, context));
  const isCommitMeant = check === undefined || check.name === commitCheckName;
  if (isCommitMeant) did.push(...(await commitAgain(decision, handling)));
  if (isCommitMeant || meant.length === 0) did.push(...(await lookAgain(decision, cause, context)));
  return did;
};

async function requestAgain(
  { deploymentId, branch, terms }: Intent,
  cause: Cause,
  { repository, headSha }: DecisionOf<'rerun'>,
  context: AppContext,
): Promise<string> {
  const name = terms.deploymentName;
  const found = await targetFor({ repository, branch, deploymentId, deploymentName: name }, context);
  if (!found.ok) {
    return noteOnCheck(context, { repository, headSha, name: checkName(name) }, `Not run again: ${found.why}`);
  }
  await context.store.request(buildBranchRequest(found.target, { repository, branch, commit: headSha }, cause));
  return `requested ${name} again`;
}

/** Reports the commit's own check again. */
async function commitAgain(
  { repository, headSha, pullRequests }: DecisionOf<'rerun'>,
  { context: { store, clock }, pullRequests: examiner }: Handling,
): Promise<string[]> {
  for (const pull of pullRequests) await examiner.examine(pull);
  const examined = pullRequests.map(({ number }) => `examined pull request ${number}`);
  const report = await store.reportOf(repository.repositoryId, headSha, commitCheckName);
  if (report?.wanted.kind !== 'check' || report.wanted.content.status !== 'completed') return examined;
  // GitHub waits for an update even if nothing changed: a new time makes one.
  const content = { ...report.wanted.content, completedAt: new Date(clock.now()).toISOString() };
  const wanted = { kind: 'check', content } as const;
  await store.putReport(
    { kind: 'check', repository: report.repository, headSha, name: report.name, wanted },
    report.version,
  );
  return [...examined, 'reported the check of the commit again'];
}

/** Examines what has no request yet as if the branch were pushed now. */
async function lookAgain(
  { repository, headSha, branch }: DecisionOf<'rerun'>,
  cause: Cause,
  context: AppContext,
): Promise<string[]> {
  if (branch === undefined) return [`the check names no branch of ${fullName(repository)}`];
  return requestBranch(context, { repository, branch, commit: headSha }, cause, unlessRequested(context));
}

/** The newest intent of each deployment. */
function newestOfEach(intents: readonly Intent[]): Intent[] {
  return [...new Map(intents.map((intent) => [intent.deploymentId, intent])).values()];
}
