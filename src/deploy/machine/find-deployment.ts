import type { Deployment } from '../../contract/control/deployment.ts';
import type { ControlService } from '../../contract/control/service.ts';
import { allEntriesOf } from '../../contract/control/pages.ts';

/** How a person names a deployment: by its id, else by its name in the workspace of the key. */
export interface DeploymentIdentity {
  name?: string | undefined;
  deploymentId?: string | undefined;
}

/** A deployment, or why it could not be found, in two sentences. */
export type FoundDeployment = { ok: true; deployment: Deployment } | { ok: false; problem: string };

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
  if (!found) {
    const problem = `There is no deployment named ${name}. Check the name and the workspace that the key belongs to, or give deployment-id.`;
    return { ok: false, problem };
  }
  if (more.length > 0) {
    const problem = `${more.length + 1} deployments are named ${name}. Give the deployment-id of one of them.`;
    return { ok: false, problem };
  }
  // A list may leave out the secrets.
  return { ok: true, deployment: await control.getDeployment(found.id, { signal }) };
}
