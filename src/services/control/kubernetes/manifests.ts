import { resolvedResources } from '../deployments/validation/resolved-resources.ts';
import { cacheParts, databaseParts } from './dependencies.ts';
import { environmentSecret } from './environment.ts';
import type { ManifestInput, Plan } from './input.ts';
import { kindsOfParts, type Manifest, baseName } from './manifest.ts';
import { agentService, ignoredContainers, workload } from './workloads.ts';

/**
 * Turns a revision of a deployment and its ResourceSpec into the objects of a cluster
 * (docs/design/contract.md#resources). `ignored` names the requested fields without effect, including those marked "do
 * not use".
 */
export function kubernetesManifests(input: ManifestInput): { manifests: Manifest[]; ignored: string[] } {
  const { spec } = input;
  const resources = resolvedResources(spec.resourceSpec);
  const plan: Plan = {
    ...input,
    base: baseName({ name: spec.name, id: spec.deploymentId }),
    resources,
    ownDatabase: resources.hasDatabase || spec.databaseUrl === '',
  };
  const manifests = [
    environmentSecret(plan),
    agentService(plan),
    ...(plan.ownDatabase ? databaseParts(plan) : []),
    ...(resources.hasCache ? cacheParts(plan) : []),
    ...workload(plan, 'agent'),
    ...(resources.hasQueue ? workload(plan, 'queue') : []),
  ];
  manifests.sort((one, other) => kindsOfParts.indexOf(one.kind) - kindsOfParts.indexOf(other.kind));
  return { manifests, ignored: [...resources.ignored, ...ignoredContainers(plan)] };
}
