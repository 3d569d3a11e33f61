import { isAfterComment, refusalOfCommit, refusalOfFreeze, timeOf } from '../../deploy/commands/decide.ts';
import { testsOfCommand } from '../../deploy/commands/repeated-tests.ts';
import type { PushedDeployment } from '../../deploy/file/desired.ts';
import { settleHold } from '../../deploy/machine/decide-hold.ts';
import { findRevision, readRevisions } from '../../deploy/machine/steps/read-deployment.ts';
import { repositoryParameters, statusOf } from '../../github/client.ts';
import type { CommandGitHub } from './github-reads.ts';
import {
  chooseActedOn,
  chosen,
  onceFor,
  ranTo,
  refuse,
  type ActedOn,
  type Performance,
  type Performed,
} from './performance.ts';

type Act = (performance: Performance) => Promise<Performed>;

/** Acts on the one deployment that a command is about. */
const onOne =
  (act: (performance: Performance, acted: ActedOn) => Promise<Performed>): Act =>
  async (performance) => {
    const found = await chooseActedOn(performance);
    return found.ok ? act(performance, found.acted) : refuse(found.refusal);
  };

/** Deploys the head of a deployment's branch. The head that is read now is the only one that is deployed. */
async function deployOne(performance: Performance, { candidate, name }: ActedOn): Promise<Performed> {
  const { command, github, file } = performance;
  const { entry, branch } = candidate;
  const isBuilt = entry.desired.source === 'github';
  if (!isBuilt && command.commit !== undefined) return refuse({ code: 'no-commit', deployment: name });
  const { ignoresFreeze = false } = command;
  const frozen = ignoresFreeze
    ? undefined
    : refusalOfFreeze({ ...candidate.target.terms, ...gateOf(entry) }, performance.now());
  if (frozen) return refuse(frozen);
  let commit: string | undefined;
  if (entry.after !== undefined) {
    // What the environment before has proven is deployed, which need not be the head.
    commit = command.commit === undefined ? undefined : await commitOf(command.commit, github);
    if (command.commit !== undefined && commit === undefined)
      return refuse({ code: 'unknown-argument', command: command.name, written: command.commit });
  } else if (entry.desired.source === 'internal_source') {
    commit = await commitOf(`heads/${branch}`, github);
    if (commit !== performance.sha)
      return refuse(
        commit === undefined ? { code: 'branch-gone', branch } : { code: 'checkout-outdated', branch, head: commit },
      );
  } else if (isBuilt) {
    commit = await commitOf(`heads/${branch}`, github);
    const refusal = refusalOfCommit(command.commit, candidate, commit);
    if (refusal) return refuse(refusal);
  }
  const refusal = await performance.begin({ deployment: name, ...(commit === undefined ? {} : { commit }) }, name);
  if (refusal) return refuse(refusal);
  // What an earlier attempt has built is not built again.
  const isRepeated = performance.begun !== undefined && entry.desired.rebuild === 'always';
  const inputs = {
    mode: 'deploy',
    'ignore-freeze': String(ignoresFreeze),
    ...chosen(candidate),
    ...(commit === undefined || !isBuilt ? {} : { commit }),
    ...(isRepeated ? { rebuild: 'auto' } : {}),
  };
  return ranTo(await performance.run(inputs, { onceFor: onceFor(performance, name) }, { file, branch }));
}

const gateOf = ({ gate }: PushedDeployment) => (gate ? { gate } : {});

/** The commit of a ref; undefined if there is none. */
async function commitOf(ref: string, { client, repository }: CommandGitHub): Promise<string | undefined> {
  try {
    const parameters = { ...repositoryParameters(repository), ref };
    return (await client.request('GET /repos/{owner}/{repo}/commits/{ref}', parameters)).data.sha;
  } catch (error) {
    const status = statusOf(error);
    if (status === 404 || status === 422) return undefined;
    throw error;
  }
}

/** Restores the revision that was live before the one that serves now, which must have served when it was written. */
async function rollBackOne(performance: Performance, { candidate, name, deployment }: ActedOn): Promise<Performed> {
  const { given, control, options, file } = performance;
  const { active_revision_id: active, latest_revision_id: latest } = deployment ?? {};
  if (!deployment || !active) return refuse({ code: 'no-rollback', deployment: name, why: { code: 'nothing-live' } });
  const read = await readRevisions(deployment, { control, options });
  const { created_at: made, updated_at: changed } = read.live?.revision ?? {};
  if (isAfterComment(given.writtenAt, [timeOf(made), timeOf(changed)]))
    return refuse({ code: 'changed-since', deployment: name, revisionId: active });
  if (latest && isAfterComment(given.writtenAt, [timeOf(read.latest?.created_at)]))
    return refuse({ code: 'changed-since', deployment: name, revisionId: latest });
  const refusal = await performance.begin({ deployment: name, active, latest: latest ?? '' }, name);
  if (refusal) return refuse(refusal);
  const expected = { active_revision_id: active, latest_revision_id: latest ?? null };
  const bound = { onceFor: onceFor(performance, name), expected };
  const { branch } = candidate;
  const run = await performance.run({ mode: 'rollback', ...chosen(candidate) }, bound, { file, branch });
  const obstacle = run.rollback?.kind === 'impossible' ? run.rollback.reason : undefined;
  const other = obstacle?.code === 'other-serves' ? (obstacle.active ?? undefined) : undefined;
  const revisionId = obstacle?.code === 'other-on-its-way' ? obstacle.revisionId : other;
  if (revisionId === undefined) return ranTo(run);
  return { run, ...refuse({ code: 'changed-since', deployment: name, revisionId }) };
}

/** Promotes the revision that is held now; else deploys what the environment before has proven. */
async function promoteOne(performance: Performance, acted: ActedOn): Promise<Performed> {
  const { given, control, options } = performance;
  const { name, deployment, candidate } = acted;
  const { latest } = deployment ? await readRevisions(deployment, { control, options }) : {};
  const before = performance.begun?.['revision'];
  if (deployment && before !== undefined) {
    const { hold } = (await findRevision(deployment.id, before, { control, options })) ?? {};
    if (hold?.decision === 'promoted')
      return { outcome: { kind: 'done', code: 'promoted', deployment: name, revisionId: before } };
  }
  // An attempt that began to deploy goes on with that. A revision without an end of its hold is not healthy yet.
  const isDeploying = performance.begun && before === undefined;
  if (isDeploying || !deployment || !latest?.hold?.ends_at || latest.hold.decision !== null) {
    return candidate.entry.after ? deployOne(performance, acted) : refuse({ code: 'nothing-held', deployment: name });
  }
  const { id: revisionId } = latest;
  if (isAfterComment(given.writtenAt, [timeOf(latest.created_at)]))
    return refuse({ code: 'changed-since', deployment: name, revisionId });
  const refusal = await performance.begin({ deployment: name, revision: revisionId }, name);
  if (refusal) return refuse(refusal);
  const why = `${given.by.login} requested it in a comment.`;
  const deciding = { deploymentId: deployment.id, revisionId, decision: 'promoted', why, control, options } as const;
  const hold = await settleHold(deciding, () => undefined);
  if (hold.kind !== 'promoted') return refuse({ code: 'hold-over', deployment: name, revisionId });
  return { outcome: { kind: 'done', code: 'promoted', deployment: name, revisionId } };
}

/** Runs the smoke tests of the revision that is live now. Nothing is built or rolled back. */
async function testOne(performance: Performance, { candidate, name, deployment }: ActedOn): Promise<Performed> {
  const { command, file } = performance;
  const repeated = testsOfCommand(candidate.entry.smokeTests, command, name);
  if (!repeated.ok) return refuse(repeated.refusal);
  const { active_revision_id: revision } = deployment ?? {};
  if (!revision) return refuse({ code: 'nothing-live', deployment: name });
  const refusal = await performance.begin({ deployment: name, revision }, name);
  if (refusal) return refuse(refusal);
  const { smokeTests } = repeated;
  const { branch } = candidate;
  return ranTo(await performance.run({ mode: 'smoke', ...chosen(candidate) }, { smokeTests }, { file, branch }));
}

export const deploy = onOne(deployOne);
export const rollBack = onOne(rollBackOne);
export const promote = onOne(promoteOne);
export const runTests = onOne(testOne);
