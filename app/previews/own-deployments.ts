import type { Deployment } from '../../src/contract/control/deployment.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { ifFound, isNotOffered } from '../../src/contract/service-error.ts';
import { listPreviews } from '../../src/deploy/machine/previews.ts';
import { isPreviewOf } from '../../src/deploy/rules/preview.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import { machineKeyOf } from './decide-previews.ts';
import type { Preview } from './preview.ts';

/**
 * Finds the deployments of a preview, whatever they were named after, and by the id that is known: that of one whose
 * creation got no response, too. Only what carries its mark is its own.
 */
export async function findOwnDeployments(
  preview: Pick<Preview, 'repositoryId' | 'number' | 'entry' | 'known'>,
  control: Pick<ControlService, 'getDeployment' | 'listDeployments'>,
  signal: AbortSignal,
): Promise<Deployment[]> {
  const { known, repositoryId } = preview;
  const listed = await tryCall(listPreviews(control, repositoryId, () => ({ signal })));
  // A service without a list has what it was asked to make, by its id.
  if (!listed.ok && !isNotOffered(listed.error)) throw listed.error;
  const there = listed.ok ? listed.value.map(({ deployment }) => deployment) : [];
  const isListed = there.some(({ id }) => id === known.deploymentId);
  const made =
    known.deploymentId && !isListed ? await ifFound(control.getDeployment(known.deploymentId, { signal })) : undefined;
  return [...there, ...(made ? [made] : [])].filter((each) => isPreviewOf(each, machineKeyOf(preview)));
}
