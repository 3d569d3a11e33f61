import { sameCommit, shortCommit } from '../../src/contract/control/repo-ref.ts';
import type { Cause, DeployRequest } from '../reconcile/deploy-request.ts';
import type { IntentFields } from '../reconcile/intent.ts';
import { checkName, checkReport, commitCheckName } from '../reconcile/report.ts';
import { capitalized } from '../../src/kit/plain-text.ts';
import { promoteFrom } from './promote-button.ts';
import { earlierWords } from '../../src/deploy/words/earlier-obstacles.ts';
import { isLater, type AppContext, type LaterTarget, type Target } from '../context.ts';
import { fullName } from '../github/github-api.ts';
import type { DecisionOf, Handler, HandlerContext } from './event-types.ts';
import { buildBranchRequest, requestBranch } from './request-branch.ts';
import { pressApprove } from './approve-button.ts';
import { noteOnCheck } from './commit-check.ts';
import { previewOfCheck } from '../previews/preview-reports.ts';
import { provePreviewAgain } from '../previews/prove-again.ts';
import { findRollbackTarget } from '../targets/rollback-target.ts';
import { refusalOfFreeze, refusalOfPerson, refusalOfProduction } from '../../src/deploy/commands/decide.ts';
import { noRollbackWords, refusalText, refusalWords } from '../../src/deploy/commands/words.ts';
import { findPromotion } from '../reconcile/earlier-environment.ts';
import { isRequested } from '../reconcile/is-requested.ts';
import { promotionRequest } from '../reconcile/promotion-request.ts';
import { callOptions } from '../commands/performance.ts';
import { targetFor } from '../targets/target-resolver.ts';

/** Handles Rollback and Redeploy. A refusal is noted on the check, with the reason. */
export const onRequestedAction: Handler<'press'> = async (decision, { context, delivery }) => {
  const { repository, headSha, check, button, by } = decision;
  const label = capitalized(button);
  const refuse = async (why: string) => [
    await noteOnCheck(context, { repository, headSha, name: check.name }, `${label} was not done: ${why}`),
  ];
  // GitHub shows the buttons to other people, too.
  const stranger =
    button === 'approve' ? undefined : refusalOfPerson(by, await context.githubApi.permissionOf(repository, by));
  if (stranger) return refuse(refusalWords(stranger).why);
  const intents = (await context.store.intentsAt(repository.repositoryId, headSha)).filter(
    ({ terms }) => checkName(terms.deploymentName) === check.name,
  );
  // The button is of the deploy whose revision was proven, whatever was pressed since.
  const newest = button === 'promote' ? intents.findLast(({ promoted }) => promoted) : intents.at(-1);
  if (!newest) return refuse('nothing is known of this check any more');
  if (button === 'approve') {
    const approved = await pressApprove(decision, newest, context);
    return approved.ok ? [approved.did] : refuse(approved.why);
  }
  const { deploymentId, branch, terms } = newest;
  if (button === 'promote') {
    const done = await promoteFrom({ newest, by, delivery }, context);
    return [...done.did, ...(done.refused.length > 0 ? await refuse(done.refused.join('; ')) : [])];
  }
  const found = await targetFor({ repository, branch, deploymentId, deploymentName: terms.deploymentName }, context);
  if (!found.ok) return refuse(found.why);
  const other = refusalOfProduction(found.target.terms, by);
  if (other) return refuse(refusalWords(other).why);
  const cause: Cause = { kind: button, key: delivery, by, at: context.clock.now() };
  const actionRequest = { decision, branch, target: found.target, cause };
  const deploymentIntents = intents.filter((intent) => intent.deploymentId === deploymentId);
  const result = await (button === 'redeploy'
    ? redeploy(actionRequest, context)
    : rollback(actionRequest, deploymentIntents, context));
  return result.ok ? [result.did] : refuse(result.why);
};

interface ActionRequest {
  decision: DecisionOf<'press'>;
  branch: string;
  target: Target;
  cause: Cause;
}

type ActionResult = { ok: true; did: string } | { ok: false; why: string };

/** Builds the head of the branch again, even if the button is on another commit: only a head can be built. */
async function redeploy(
  { decision: { repository }, branch, target, cause }: ActionRequest,
  context: AppContext,
): Promise<ActionResult> {
  const frozen = refusalOfFreeze(target.terms, context.clock.now());
  if (frozen) return { ok: false, why: refusalText(frozen) };
  if (isLater(target)) return promote(target, { repository, branch, cause }, context);
  const head = await context.githubApi.head(repository, branch);
  if (!head) return { ok: false, why: `the branch ${branch} is gone` };
  await context.store.request(buildBranchRequest(target, { repository, branch, commit: head.sha }, cause));
  return { ok: true, did: `requested ${shortCommit(head.sha)} on ${target.terms.deploymentName} again` };
}

/** Promotes what the environment before serves and has proven now, whichever commit's check has the button. */
async function promote(
  target: LaterTarget,
  on: Pick<DeployRequest, 'repository' | 'branch' | 'cause'>,
  context: AppContext,
): Promise<ActionResult> {
  const { deploymentName } = target.terms;
  if (await isRequested(target.deploymentId, on.cause, context))
    return { ok: true, did: `knew the promotion to ${deploymentName}` };
  const found = await findPromotion(target, context, callOptions(context));
  if (!found.ok) return { ok: false, why: earlierWords(found.obstacle)[0] };
  const { commit, from } = found;
  await context.store.request(promotionRequest(target, { ...on, commit, from }));
  return { ok: true, did: `requested the promotion of ${shortCommit(commit)} to ${deploymentName}` };
}

/** Restores the previously live build; the request carries that build's commit. */
async function rollback(
  { decision: { repository, headSha }, branch, target, cause }: ActionRequest,
  intents: readonly IntentFields[],
  context: AppContext,
): Promise<ActionResult> {
  const { store, control } = context;
  const { deploymentId, terms } = target;
  // Ignore a repeated delivery: another revision may be live by now, which must not be rolled back.
  if (await isRequested(deploymentId, cause, context))
    return { ok: true, did: `knew the way back on ${terms.deploymentName}` };
  const back = await findRollbackTarget(deploymentId, intents, control, { isOneOfThem: true });
  if (!back.ok) return { ok: false, why: noRollbackWords(back) };
  const commit = back.revision.source_revision_config.repo_commit_sha ?? headSha;
  const sending = { kind: 'redeploy', revisionId: back.revision.id } as const;
  await store.request({ deploymentId, repository, branch, commit, cause, terms, sending });
  const did = `requested rollback to revision ${back.revision.id} on ${terms.deploymentName}`;
  if (!sameCommit(commit, headSha)) {
    // The rollback is reported on the check of the restored commit, so mention it on this check.
    const note = `${cause.by ?? 'A person'} requested a rollback: revision ${back.revision.id} of commit ${shortCommit(commit)} is restored, and progress is on the check of that commit`;
    await noteOnCheck(context, { repository, headSha, name: checkName(terms.deploymentName) }, note);
  }
  return { ok: true, did };
}

/** Handles Re-run: requests every deployment of the check again, at the commit of the check. */
export const onRerun: Handler<'rerun'> = async (decision, handling) => {
  const { repository, headSha, check, by } = decision;
  const { context, delivery } = handling;
  const preview = check && previewOfCheck(check.name);
  if (preview && context.previews) {
    const stranger = refusalOfPerson(by, await context.githubApi.permissionOf(repository, by));
    if (stranger) return [`Not run again: ${refusalWords(stranger).why}`];
    const requested = { repository, headSha, by, ...preview };
    return [await provePreviewAgain({ previews: context.previews, clock: context.clock }, requested)];
  }
  const cause: Cause = { kind: 'rerun', key: delivery, by, at: context.clock.now() };
  const intents = await context.store.intentsAt(repository.repositoryId, headSha);
  const newestOfEach = new Map(intents.map((intent) => [intent.deploymentId, intent]));
  const matching = [...newestOfEach.values()].filter(
    ({ terms }) => check === undefined || checkName(terms.deploymentName) === check.name,
  );
  const did: string[] = [];
  for (const intent of matching) did.push(await requestAgain(intent, cause, decision, context));
  const includesCommit = check === undefined || check.name === commitCheckName;
  if (includesCommit) did.push(...(await reportCommitAgain(decision, handling)));
  if (includesCommit || matching.length === 0) did.push(...(await examineBranch(decision, cause, context)));
  return did;
};

async function requestAgain(
  { deploymentId, branch, terms }: DeployRequest,
  cause: Cause,
  { repository, headSha }: DecisionOf<'rerun'>,
  context: AppContext,
): Promise<string> {
  const name = terms.deploymentName;
  const found = await targetFor({ repository, branch, deploymentId, deploymentName: name }, context);
  if (!found.ok) {
    return noteOnCheck(context, { repository, headSha, name: checkName(name) }, `Not run again: ${found.why}`);
  }
  const { target } = found;
  if (isLater(target)) return promoteAgain(target, { repository, branch, cause, commit: headSha }, context);
  await context.store.request(buildBranchRequest(target, { repository, branch, commit: headSha }, cause));
  return `requested ${name} again`;
}

/** Promotes a commit once more, as if it had been proven now; only what the environment before still serves. */
async function promoteAgain(
  target: LaterTarget,
  { commit, ...on }: Pick<DeployRequest, 'repository' | 'branch' | 'cause' | 'commit'>,
  context: AppContext,
): Promise<string> {
  const { deploymentName, promotedFrom } = target.terms;
  const found = await findPromotion(target, context, callOptions(context));
  const isOther = found.ok && !sameCommit(found.commit, commit);
  if (!found.ok || isOther) {
    const why = found.ok
      ? `${promotedFrom.name} serves ${shortCommit(found.commit)} by now`
      : earlierWords(found.obstacle)[0];
    const check = { repository: on.repository, headSha: commit, name: checkName(deploymentName) };
    return noteOnCheck(context, check, `Not run again: ${why}`);
  }
  await context.store.request(promotionRequest(target, { ...on, commit: found.commit, from: found.from }));
  return `requested ${deploymentName} again`;
}

/** Reports the commit's own check again. */
async function reportCommitAgain(
  { repository, headSha, pullRequests }: DecisionOf<'rerun'>,
  { context: { store, clock }, pullRequests: examiner }: HandlerContext,
): Promise<string[]> {
  for (const pull of pullRequests) await examiner.examine(pull);
  const examined = pullRequests.map(({ number }) => `examined pull request ${number}`);
  const report = await store.reportOf(repository.repositoryId, headSha, commitCheckName);
  if (report?.wanted.kind !== 'check' || report.wanted.content.status !== 'completed') return examined;
  // GitHub waits for an update even if nothing changed, so change the time.
  const content = { ...report.wanted.content, completedAt: new Date(clock.now()).toISOString() };
  await store.putReport(checkReport(report, content, report.wanted.subject), report.version);
  return [...examined, 'reported the check of the commit again'];
}

/** Requests what was not requested yet, as if the branch were pushed now. */
async function examineBranch(
  { repository, headSha, branch }: DecisionOf<'rerun'>,
  cause: Cause,
  context: AppContext,
): Promise<string[]> {
  if (branch === undefined) return [`the check names no branch of ${fullName(repository)}`];
  return requestBranch(context, { repository, branch, commit: headSha }, cause, { skipKnown: true });
}
