import type { Deployment } from '../contract/control/deployment.ts';
import { classOfRevisionStatus, type Revision } from '../contract/control/revision.ts';
import { isNotOffered } from '../contract/service-error.ts';
import { adviceOn } from './advice.ts';
import { attempt } from './attempt.ts';
import type { Rollback } from './outcome-types.ts';
import { rollBackTo } from './roll-back.ts';
import type { DeployRun } from './deploy-run.ts';

/** Rolls back a revision of this run that failed its smoke tests, to the revision that was live before it. */
export async function rollBackFailedRevision(broken: string | undefined, run: DeployRun): Promise<Rollback> {
  const { formerLive, deployment } = run.known;
  if (broken === undefined) {
    return impossible(
      'this run made no revision, so it has none to take back',
      'Run with mode: rollback to go further back.',
    );
  }
  if (!formerLive || !deployment) {
    return impossible(
      'no revision was live before, so there is none to go back to',
      'Correct the agent and deploy it again.',
    );
  }
  const current = await attempt(run.request.control.getDeployment(deployment.id, run.reading(Infinity)));
  if (!current.ok) {
    const why = run.redact(current.error.message);
    return { kind: 'failed', toRevisionId: formerLive.id, why, advice: adviceOn(current.error) };
  }
  const { active_revision_id: active } = run.saw(current.value);
  if (active !== broken) {
    return impossible(`revision ${active ?? 'none'} serves by now, not ${broken}`, 'Look at what else deploys here.');
  }
  return rollBackTo(formerLive, current.value, `revision ${broken} answered wrongly`, run);
}

/** Carries out a requested rollback: to the newest revision that was live before the current one. */
export async function goBack(deployment: Deployment, run: DeployRun): Promise<Rollback> {
  const active = deployment.active_revision_id;
  if (!active) return impossible('nothing is live, so there is nothing to go back from', 'Deploy it first.');
  const former = await liveBefore(active, deployment.id, run);
  if (former === 'not-offered') {
    return impossible(
      'this service does not list revisions, so the previously live revision is unknown',
      'Deploy the former commit or image instead.',
    );
  }
  if (!former) return impossible(`no revision was live before ${active}`, 'Deploy the former commit or image instead.');
  return rollBackTo(former, deployment, 'mode is rollback', run);
}

const impossible = (why: string, advice: string): Rollback => ({ kind: 'impossible', why, advice });

const pageSize = 100;

/** Revisions are listed newest first; one that was live keeps its status when another takes its place. */
async function liveBefore(
  active: string,
  deploymentId: string,
  run: DeployRun,
): Promise<Revision | 'not-offered' | undefined> {
  let isPast = false;
  const met = new Set<string>();
  for (let offset = 0; ; offset += pageSize) {
    const query = { limit: pageSize, offset };
    const page = await attempt(run.request.control.listRevisions(deploymentId, query, run.reading()));
    if (!page.ok && isNotOffered(page.error)) return 'not-offered';
    if (!page.ok) throw page.error;
    const fresh = page.value.resources.filter(({ id }) => !met.has(id));
    for (const revision of fresh) {
      met.add(revision.id);
      if (isPast && classOfRevisionStatus(revision.status) === 'live') return revision;
      isPast ||= revision.id === active;
    }
    if (page.value.resources.length < pageSize || fresh.length === 0) return undefined;
  }
}
