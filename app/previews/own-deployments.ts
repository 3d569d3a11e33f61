import { allEntriesOf } from '../../src/contract/control/pages.ts';
import type { Deployment } from '../../src/contract/control/deployment.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { ifFound, isNotOffered } from '../../src/contract/service-error.ts';
import { isPreviewOf, previewKeyOf } from '../../src/deploy/rules/preview.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import type { Preview, PreviewKey } from './preview.ts';

/** What is there of a preview: its deployments, and others that have its name. */
export interface FoundDeployments {
  own: readonly Deployment[];
  others: readonly Deployment[];
}

/**
 * Finds the deployments of a preview by its id and by its name: that of one whose creation got no response, too. Only
 * those with its mark are its own.
 */
export async function findOwnDeployments(
  preview: Pick<Preview, 'repositoryId' | 'number' | 'entry' | 'name' | 'known'>,
  control: Pick<ControlService, 'getDeployment' | 'listDeployments'>,
  signal: AbortSignal,
): Promise<FoundDeployments> {
  const { name, known } = preview;
  const listed = await tryCall(
    allEntriesOf((page) => control.listDeployments({ name_contains: name, ...page }, { signal })),
  );
  // A service without a list has what it was asked to make, by its id.
  if (!listed.ok && !isNotOffered(listed.error)) throw listed.error;
  const named = (listed.ok ? listed.value : []).filter((each) => each.name === name).map(({ id }) => id);
  const ids = new Set([...named, ...(known.deploymentId ? [known.deploymentId] : [])]);
  // A list may leave out the secrets, and with them the mark.
  const found = await Promise.all([...ids].map((id) => ifFound(control.getDeployment(id, { signal }))));
  const there = found.filter((each) => each !== undefined);
  return {
    own: there.filter((each) => isPreviewOf(each, preview)),
    others: there.filter((each) => !isPreviewOf(each, preview)),
  };
}

/** The deployments of the service that say whose preview they are. */
export async function markedDeployments(
  control: Pick<ControlService, 'getDeployment' | 'listDeployments'>,
): Promise<{ deployment: Deployment; key: PreviewKey }[]> {
  const listed = await tryCall(allEntriesOf((page) => control.listDeployments(page)));
  if (!listed.ok && isNotOffered(listed.error)) return [];
  if (!listed.ok) throw listed.error;
  const marked: { deployment: Deployment; key: PreviewKey }[] = [];
  for (const each of listed.value) {
    // A list may leave out the secrets, and with them the mark.
    const isNamedSo = each.secrets == null && /-pr-\d+-[0-9a-f]+$/.test(each.name);
    const deployment = isNamedSo ? await ifFound(control.getDeployment(each.id)) : each;
    const key = deployment && previewKeyOf(deployment);
    if (deployment && key) marked.push({ deployment, key });
  }
  return marked;
}
