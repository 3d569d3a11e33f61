import { allEntriesOf } from '../../contract/control/pages.ts';
import { ifFound, isNotOffered } from '../../contract/service-error.ts';
import type { Deployment } from '../../contract/control/deployment.ts';
import type { ControlService } from '../../contract/control/service.ts';
import { tryCall } from '../smoke/try-call.ts';
import type { DeployRun } from './deploy-run.ts';
import { type Named, namedBy } from '../file/desired.ts';

/**
 * The deployments that are meant: by id there is exactly one or the service's error, by name there may be none. The
 * service may match names loosely, so the name is compared here, on every page.
 */
export async function findDeployments(run: DeployRun): Promise<Deployment[]> {
  const { name, deploymentId } = namedBy(run.request);
  if (deploymentId !== undefined) {
    return [run.saw(await run.request.control.getDeployment(deploymentId, run.reading()))];
  }
  return name === undefined ? [] : findByName(name, run);
}

/** Whether the service says that there is none of this name or id: one that lists nothing, or is none, says nothing. */
export async function confirmsAbsence(run: DeployRun): Promise<boolean> {
  const { control } = run.request;
  if (await ifFound(control.listDeployments({ limit: 1 }, run.reading()))) return true;
  return namedBy(run.request).deploymentId !== undefined && (await isControlService(run));
}

/** Every deployment of exactly this name; none where the service does not list deployments, which is noted. */
export async function findByName(name: string, run: DeployRun): Promise<Deployment[]> {
  const { control } = run.request;
  const read = (page: { limit: number; offset: number }) =>
    control.listDeployments({ name_contains: name, ...page }, run.reading());
  const listed = await tryCall(allEntriesOf(read));
  if (!listed.ok) {
    if (!isNotOffered(listed.error) || !(await isControlService(run))) throw listed.error;
    run.note({ code: 'deployments-unlisted' });
    return [];
  }
  const found: Deployment[] = [];
  for (const each of listed.value) {
    // A list may leave out what a plan has to know, the secrets first of all.
    if (each.name === name) found.push(run.saw(await control.getDeployment(each.id, run.reading())));
  }
  return found;
}

/**
 * An address that has no list of deployments may be no control service at all: one that docs/design/contract.md
 * describes lists its listeners and integrations.
 */
async function isControlService(run: DeployRun): Promise<boolean> {
  const { control } = run.request;
  for (const ask of [
    () => control.listListeners({ limit: 1 }, run.reading()),
    () => control.listIntegrations(run.reading()),
  ]) {
    const answered = await tryCall<unknown>(ask());
    if (answered.ok || answered.error.kind === 'rejected') return true;
    if (!isNotOffered(answered.error)) throw answered.error;
  }
  return false;
}

/**
 * Finds a deployment by its id or its name, with its secrets; or how many have its name where that is not one. Rejects
 * with the service's error.
 */
export async function findDeployment(
  { name, deploymentId }: Named,
  control: Pick<ControlService, 'getDeployment' | 'listDeployments'>,
  signal?: AbortSignal,
): Promise<{ ok: true; deployment: Deployment } | { ok: false; matches: number }> {
  if (deploymentId !== undefined)
    return { ok: true, deployment: await control.getDeployment(deploymentId, { signal }) };
  const listed = await allEntriesOf((page) => control.listDeployments({ name_contains: name, ...page }, { signal }));
  const [found, ...more] = listed.filter((each) => each.name === name);
  if (!found || more.length > 0) return { ok: false, matches: found ? 1 + more.length : 0 };
  // A list may leave out the secrets.
  return { ok: true, deployment: await control.getDeployment(found.id, { signal }) };
}
