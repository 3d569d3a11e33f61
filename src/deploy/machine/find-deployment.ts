import type { Deployment } from '../../contract/control/deployment.ts';
import type { ControlService } from '../../contract/control/service.ts';
import { allEntriesOf } from '../../contract/control/pages.ts';

/** How a person names a deployment: by its id, else by its name in the workspace of the key. */
export interface DeploymentIdentity {
  name?: string | undefined;
  deploymentId?: string | undefined;
}

/** A deployment, or how many have its name where that is not one. */
export type FoundDeployment = { ok: true; deployment: Deployment } | { ok: false; matches: number };

/** Finds a deployment by its id or its name, with its secrets. Rejects with the service's error. */
export async function findDeployment(
  { name, deploymentId }: DeploymentIdentity,
  control: Pick<ControlService, 'getDeployment' | 'listDeployments'>,
  signal?: AbortSignal,
): Promise<FoundDeployment> {
  if (deploymentId !== undefined)
    return { ok: true, deployment: await control.getDeployment(deploymentId, { signal }) };
  const listed = await allEntriesOf((page) => control.listDeployments({ name_contains: name, ...page }, { signal }));
  const [found, ...more] = listed.filter((each) => each.name === name);
  if (!found || more.length > 0) return { ok: false, matches: found ? 1 + more.length : 0 };
  // A list may leave out the secrets.
  return { ok: true, deployment: await control.getDeployment(found.id, { signal }) };
}
