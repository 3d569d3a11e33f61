import { resolvedResources } from '../deployments/validation/resolved-resources.ts';
import { cacheParts, databaseParts } from './dependencies.ts';
import { environmentSecret } from './environment.ts';
import type { ManifestInput, Plan } from './input.ts';
import { kindsOfParts, type Manifest, type Part, baseName, labelKeys } from './manifest.ts';
import { agentService, ignoredContainers, workload } from './workloads.ts';

export interface Manifests {
  manifests: Manifest[];
  /** The requested fields of the ResourceSpec without effect, including those marked "do not use". */
  ignored: string[];
}

/**
 * Turns a revision of a deployment and its ResourceSpec into the objects of a cluster (control-service.md, ResourceSpec).
 * Pure: the same input makes the same objects.
 */
export function kubernetesManifests(input: ManifestInput): Manifests {
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

/** The part that an object belongs to, from its labels. */
export function partOf({ metadata }: Pick<Manifest, 'metadata'>): Part | undefined {
  const component = metadata.labels[labelKeys.component];
  return component === 'agent' || component === 'queue' || component === 'cache' || component === 'database'
    ? component
    : undefined;
}
