import { entriesOf, type ReadPage } from '../contract/control/pages.ts';
import type { Deployment } from '../contract/control/deployment.ts';
import type { Revision } from '../contract/control/revision.ts';
import { isNotOffered } from '../contract/service-error.ts';
import { isLiveBefore, noneLiveBefore, nothingLive, whyNotUndone, decideRollback } from '../planning/rollback.ts';
import { adviceOn } from './describe-ending.ts';
import { attempt } from './attempt.ts';
import type { Rollback } from './outcome-types.ts';
import { rollBackTo } from './roll-back.ts';
import type { DeployRun } from './deploy-run.ts';

const whyImpossible = {
  'no-revision': impossible(
    'this run made no revision, so it has none to take back',
    'Run with mode: rollback to go further back.',
  ),
  'no-former': impossible(
    'no revision was live before, so there is none to go back to',
    'Correct the agent and deploy it again.',
  ),
};

/**
 * Rolls back a revision of this run that failed its smoke tests, to the revision that was live before it; undefined if
 * that was not requested.
 */
export async function rollBackFailedRevision(
  broken: string | undefined,
  run: DeployRun,
): Promise<Rollback | undefined> {
  const { formerLive, deployment } = run.known;
  const { onFailure } = run.request;
  const decision = decideRollback({ onFailure, revisionId: broken, formerLive: formerLive?.id });
  if (decision.kind === 'not-requested') return undefined;
  if (decision.kind === 'impossible') return whyImpossible[decision.because];
  if (!formerLive || !deployment) return whyImpossible['no-former'];
  const current = await attempt(run.request.control.getDeployment(deployment.id, run.reading(Infinity)));
  if (!current.ok) {
    const why = run.redact(current.error.message);
    return { kind: 'failed', toRevisionId: formerLive.id, why, advice: adviceOn(current.error) };
  }
  const why = whyNotUndone(broken, { active: run.saw(current.value).active_revision_id });
  if (why) return impossible(why, 'Look at what else deploys here.');
  return rollBackTo(formerLive, current.value, `revision ${broken} answered wrongly`, run);
}

/** Carries out a requested rollback: to the newest revision that was live before the current one. */
export async function rollBackToFormer(deployment: Deployment, run: DeployRun): Promise<Rollback> {
  const active = deployment.active_revision_id;
  if (!active) return impossible(nothingLive, 'Deploy it first.');
  const { control } = run.request;
  const former = await attempt(liveBefore(active, (page) => control.listRevisions(deployment.id, page, run.reading())));
  if (!former.ok) {
    if (!isNotOffered(former.error)) throw former.error;
    return impossible(
      'this service does not list revisions, so the previously live revision is unknown',
      'Deploy the former commit or image instead.',
    );
  }
  if (!former.value) return impossible(noneLiveBefore(active), 'Deploy the former commit or image instead.');
  return rollBackTo(former.value, deployment, 'as requested', run);
}

function impossible(why: string, advice: string): Rollback {
  return { kind: 'impossible', why, advice };
}

/**
 * The newest revision that was live before this one.
 *
 * @param most how many revisions are searched.
 */
export async function liveBefore(
  active: string,
  read: ReadPage<Revision>,
  most = Infinity,
): Promise<Revision | undefined> {
  const isWanted = isLiveBefore(active);
  for await (const revision of entriesOf(read, most)) if (isWanted(revision)) return revision;
  return undefined;
}
