import type { Deployment, DeploymentCreateRequest, DeploymentPatchRequest } from '../../contract/control/deployment.ts';
import { findMade, type SoughtChange } from '../rules/find-made.ts';
import { heldAt, sameField } from '../rules/plan-fields.ts';
import { tryCall } from '../smoke/try-call.ts';
import { findByName } from './find-deployments.ts';
import type { DeployRun } from './deploy-run.ts';
import { readNewer } from './steps/read-deployment.ts';

/** Whether a PATCH requests another source: then a revision of this source shows that it was applied. */
export const changesSource = (request: DeploymentPatchRequest, former: Deployment | undefined): boolean =>
  Object.entries(request.source_revision_config ?? {}).some(([field, requested]) => {
    const path = `source_revision_config.${field}`;
    return typeof requested === 'string' && !sameField(path, requested, former && heldAt(former, path));
  });

/** What a write is found to have done. Without a revision it changed settings in place. */
export interface ResolvedWrite {
  deployment: Deployment;
  revisionId: string | undefined;
}

/** Polls until `look` finds what was written, for at most `ms`, or the run's timeout while it may be. */
async function pollUntilFound(
  ms: number,
  run: DeployRun,
  look: () => Promise<ResolvedWrite | 'may-be' | 'none'>,
): Promise<ResolvedWrite | undefined> {
  const { clock, timeoutMs } = run.request;
  const began = clock.now();
  for (;;) {
    const seen = await tryCall(look());
    if (seen.ok && typeof seen.value !== 'string') return seen.value;
    if (!seen.ok) run.emit({ kind: 'poll-failed', why: run.redact(seen.error.message) });
    const until = began + (seen.ok && seen.value === 'may-be' ? Math.max(ms, timeoutMs) : ms);
    if (clock.now() >= until) return undefined;
    await run.untilNextPoll(until, seen.ok ? 0 : seen.error.retryAfterMs);
  }
}

/**
 * Resolves a creation whose response was lost or lacked its first revision. The name did not exist before, so a
 * deployment of this name and source is the requested one, even if another client created it.
 */
export function resolveCreation(
  { name, source }: DeploymentCreateRequest,
  id: string | undefined,
  ms: number,
  run: DeployRun,
): Promise<ResolvedWrite | undefined> {
  return pollUntilFound(ms, run, async () => {
    const found = id
      ? [run.saw(await run.request.control.getDeployment(id, run.reading(Infinity)))]
      : await findByName(name, run);
    const made = found.find((deployment) => deployment.source === source && deployment.latest_revision_id);
    return made ? { deployment: made, revisionId: made.latest_revision_id ?? undefined } : 'none';
  });
}

/**
 * Resolves a change whose response was lost or reported no new revision. A newer revision with the requested content is
 * adopted, even if another client made it: a second request could only make a duplicate. Longer than `ms` it waits only
 * for a revision that does not report its commit yet.
 */
export function resolveChange(
  { id, latest_revision_id: former }: Pick<Deployment, 'id' | 'latest_revision_id'>,
  sought: SoughtChange,
  ms: number,
  run: DeployRun,
): Promise<ResolvedWrite | undefined> {
  const { control } = run.request;
  const options = () => run.reading(Infinity);
  return pollUntilFound(ms, run, async () => {
    const deployment = run.saw(await control.getDeployment(id, options()));
    const found = findMade(sought, { deployment, newer: await readNewer(deployment, former, { control, options }) });
    if (found.kind === 'may-be' || found.kind === 'none') return found.kind;
    return { deployment, revisionId: found.kind === 'made' ? found.revision.id : undefined };
  });
}
