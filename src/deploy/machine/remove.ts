import type { Deployment } from '../../contract/control/deployment.ts';
import { isNotOffered, isTransient, type ServiceError } from '../../contract/service-error.ts';
import { nameObstacles, previewObstacles } from '../rules/plan-identity.ts';
import { tryCall } from '../smoke/try-call.ts';
import type { Ending } from './deploy-state.ts';
import { findDeployments, confirmsAbsence } from './find-deployments.ts';
import { ambiguousName } from './observe.ts';
import type { DeployRun } from './deploy-run.ts';
import { namedBy } from '../file/desired.ts';
import { resolveMs, senderOf } from './make-change.ts';
import { writeOnce } from './steps/send-change.ts';
import { heartbeatMs, refusals } from './watch.ts';

/**
 * Deletes the deployment with the given id or exact name, and waits until it is gone: the service responds before it
 * has finished. A missing deployment is a success. A dry run only names the deployment.
 */
export async function remove(run: DeployRun): Promise<Ending> {
  const { dryRun, further, wait, keepTracingProject = false } = run.request;
  const named = namedBy(run.request);
  run.emit({ kind: 'looking', deployment: named.deploymentId ?? named.name ?? '' });
  const looked = await tryCall(findDeployments(run));
  if (!looked.ok && (looked.error.status !== 404 || named.deploymentId === undefined)) throw looked.error;
  const [deployment, ...others] = looked.ok ? looked.value : [];
  if (!deployment) return absent(run, looked.ok ? undefined : looked.error);
  const obstacles = [...nameObstacles(named, deployment), ...previewObstacles(run.request.previewRun?.key, deployment)];
  const several = others.length > 0 ? [ambiguousName([deployment, ...others])] : [];
  if (obstacles.length + several.length > 0) return run.impossible([...several, ...obstacles]);
  if (dryRun) return { kind: 'would-delete' };
  if (!further) throw new Error('a deletion was requested without a client that can delete');
  const withTracingProject = !keepTracingProject;
  run.emit({ kind: 'deleting', deploymentId: deployment.id, deploymentName: deployment.name, withTracingProject });
  if (isLeaving(deployment)) return wait ? waitUntilDeleted(deployment, undefined, run) : { kind: 'deletion-started' };
  const query = { deleteTracingProject: withTracingProject };
  const by = senderOf(run);
  run.known.writing = true;
  const answered = await writeOnce((options) => further.deleteDeployment(deployment.id, query, options), by);
  run.known.writing = !answered.ok && answered.error.effect === 'unknown';
  if (answered.ok) run.known.changed = true;
  else if (answered.error.effect === 'none') return refused(deployment, answered.error, run);
  else run.emit({ kind: 'settling', why: run.redact(answered.error.message) });
  if (!wait && answered.ok) return { kind: 'deletion-started' };
  return waitUntilDeleted(deployment, answered.ok ? undefined : answered.error, run);
}

async function absent(run: DeployRun, error: ServiceError | undefined): Promise<Ending> {
  if (await confirmsAbsence(run)) return { kind: 'gone', found: false };
  if (error) throw error;
  return run.impossible([{ field: 'name', code: 'deployments-unlisted' }]);
}

/** Confirms with a second request: a service without deletion also responds with 404. */
async function refused(deployment: Deployment, error: ServiceError, run: DeployRun): Promise<Ending> {
  if (!isNotOffered(error)) throw error;
  const seen = await tryCall(run.request.control.getDeployment(deployment.id, run.reading()));
  if (!seen.ok && seen.error.status === 404) return { kind: 'gone', found: true };
  throw error;
}

/** Polls until the deployment is gone. `unsure` is the failure of a request that may not have taken effect. */
async function waitUntilDeleted(
  deployment: Deployment,
  unsure: ServiceError | undefined,
  run: DeployRun,
): Promise<Ending> {
  const { clock, control } = run.request;
  const began = clock.now();
  const resolvedBy = began + resolveMs;
  let [said, reportedAt, refusedInRow] = ['', began, 0];
  let open = unsure;
  for (;;) {
    const seen = await tryCall(control.getDeployment(deployment.id, run.reading()));
    const now = clock.now();
    if (!seen.ok && seen.error.status === 404) {
      run.settled();
      return { kind: 'gone', found: true };
    }
    if (seen.ok) {
      const { status } = run.saw(seen.value);
      refusedInRow = 0;
      if (isLeaving(seen.value)) {
        open = undefined;
        run.settled();
      }
      if (status !== said || now - reportedAt >= heartbeatMs) {
        run.emit({ kind: 'leaving', status, sinceMs: now - began, leftMs: Math.max(0, run.deadline - now) });
        [said, reportedAt] = [status, now];
      }
    } else {
      refusedInRow = isTransient(seen.error) ? 0 : refusedInRow + 1;
      if (refusedInRow >= refusals) throw seen.error;
      run.emit({ kind: 'poll-failed', why: run.redact(seen.error.message) });
    }
    if (open && now >= resolvedBy) return { kind: 'unsettled', what: 'deletion', error: open };
    if (now >= run.deadline) return { kind: 'still-there' };
    await run.untilNextPoll(run.deadline, seen.ok ? 0 : seen.error.retryAfterMs);
  }
}

/** Whether a deployment is being deleted. */
export const isLeaving = ({ status }: Pick<Deployment, 'status'>): boolean => status.endsWith('_DELETE');
