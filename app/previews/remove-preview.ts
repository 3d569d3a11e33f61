import type { Deployment } from '../../src/contract/control/deployment.ts';
import { ifFound, isNotOffered } from '../../src/contract/service-error.ts';
import { listPreviews } from '../../src/deploy/machine/previews.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import { anyEntry, ownKeyOf } from './decide-previews.ts';
import type { Preview } from './preview.ts';
import { deploy } from '../../src/deploy/machine/deploy.ts';
import { catchTransientError } from '../recovery/recover-heads.ts';
import { retryAfterMs, type RunContext } from './preview-context.ts';

/** How long one deletion is waited for (ms): then it is looked at again. */
const timeoutMs = 5 * 60_000;
const pollMs = 2_000;

/**
 * Deletes every deployment that carries the mark of a preview, and observes that none is left. It does so again where
 * nothing was there: a creation without a response may take effect late. @throws ServiceError
 */
export async function removePreview(preview: Preview, context: RunContext): Promise<void> {
  const { previews, run, clock } = context;
  const found = await findOwnDeployments(preview, context);
  const own = preview.entry === anyEntry ? await leftBehind(found, preview, context) : found;
  if (!(await deleteOwn(own, preview, context))) return;
  const isNews = own.length > 0 || preview.known.goneAt == null;
  const goneAt = isNews ? clock.now() : (preview.known.goneAt ?? clock.now());
  await previews.save(run, { known: { goneAt, deploymentId: null, failures: 0 }, journal: null, isNews });
}

/**
 * Which of the deployments that were found before are left behind still: the pull request may have been opened again
 * since the sweep, and have previews now. Where GitHub does not say, the next sweep looks again.
 */
async function leftBehind(
  found: readonly Deployment[],
  preview: Preview,
  { previews, githubApi, log }: RunContext,
): Promise<readonly Deployment[]> {
  const pull = await previews.pull(preview);
  if (found.length === 0 || !pull || pull.isUnreachable) return [];
  let isStill = false;
  const failure = await catchTransientError(async () => {
    const state = await githubApi.pullRequest(pull);
    // Without a commit, the sweep knew that there is no such pull request.
    isStill = state ? !state.isOpen : preview.wanted.commit === '';
  });
  if (failure !== undefined) log.warn({ pull: preview.number }, `A stray is not removed yet: ${failure.message}`);
  return isStill ? found : [];
}

/** Deletes deployments of a preview. False where one is still there: then the run comes again. @throws ServiceError */
export async function deleteOwn(own: readonly Deployment[], preview: Preview, context: RunContext): Promise<boolean> {
  const { control, previews, run, clock, random, agentAt, credentials, signal } = context;
  for (const deployment of own) {
    const key = ownKeyOf(deployment, preview, context.hostedIdOf(preview.repositoryId));
    if (!key) continue;
    const outcome = await deploy({
      mode: 'delete',
      named: { deploymentId: deployment.id },
      previewRun: { key, production: {} },
      smokeTests: [],
      onFailure: 'keep',
      wait: true,
      onSuperseded: 'fail',
      control,
      further: control,
      agentAt,
      clock,
      random,
      timeoutMs,
      pollMs,
      signal,
      credentials,
    });
    signal.throwIfAborted();
    if (outcome.kind === 'deleted') continue;
    const failures = (preview.known.failures ?? 0) + 1;
    context.log.warn({ pull: preview.number }, `A preview is not removed yet: ${outcome.reason}`);
    await previews.save(run, { known: { failures } });
    await previews.again(preview, clock.now() + retryAfterMs(failures));
    return false;
  }
  return true;
}

/**
 * Finds the deployments of a preview, whatever they were named after, and by the id that is known: that of one whose
 * creation got no response, too. Only what carries its mark is its own.
 */
export async function findOwnDeployments(
  preview: Preview,
  { control, hostedIdOf, signal }: Pick<RunContext, 'control' | 'hostedIdOf' | 'signal'>,
): Promise<Deployment[]> {
  const { known, repositoryId } = preview;
  const hostedId = hostedIdOf(repositoryId);
  const there: Deployment[] = [];
  for (const id of new Set([hostedId, repositoryId])) {
    const listed = await tryCall(listPreviews(control, id, () => ({ signal })));
    // A service without a list has what it was asked to make, by its id.
    if (!listed.ok && !isNotOffered(listed.error)) throw listed.error;
    there.push(...(listed.ok ? listed.value.map(({ deployment }) => deployment) : []));
  }
  const isListed = there.some(({ id }) => id === known.deploymentId);
  const made =
    known.deploymentId && !isListed ? await ifFound(control.getDeployment(known.deploymentId, { signal })) : undefined;
  return [...there, ...(made ? [made] : [])].filter((each) => ownKeyOf(each, preview, hostedId) !== undefined);
}
