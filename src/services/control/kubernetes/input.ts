import type { AgentSettings } from '../compute/agent-environment.ts';
import type { AgentSpec } from '../compute/compute.ts';
import type { ResolvedResources } from '../deployments/validation/resolved-resources.ts';
import { type ObjectMeta, type Part, asLabel, labelKeys, manager, partName } from './manifest.ts';

export interface PartSettings extends Pick<AgentSettings, 'drainMs' | 'privateWebhooks'> {
  cacheImage: string;
  /** Postgres, with the variables of its official image. */
  databaseImage: string;
  /** The storage class of the database part's volume; the cluster's own default when absent. */
  storageClass?: string | undefined;
  progressDeadlineSeconds: number;
}

export interface ManifestInput {
  spec: Omit<AgentSpec, 'program' | 'log' | 'deploymentType' | 'namespace' | 'user'>;
  imageUri: string;
  namespace: string;
  /** Created once per deployment. A secret. */
  databasePassword: string;
  /** The current number of replicas, where the cluster scaled them: kept within the requested bounds. */
  running: { readonly [part in 'agent' | 'queue']?: number | undefined };
  /** The volume of the database part as last requested; absent where there is none yet. */
  formerVolume?: FormerVolume | undefined;
  settings: PartSettings;
}

export interface FormerVolume {
  /** As the cluster writes it: `20Gi`. */
  storage: string;
  storageClass: string | undefined;
}

/** The inputs, with the common name and resources of all parts. */
export interface Plan extends ManifestInput {
  base: string;
  resources: ResolvedResources;
  /** Whether the database is a part of the deployment: requested by a field, or there is no other. */
  ownDatabase: boolean;
}

/** An object's metadata: the requested labels, overridden by our own. */
export function metaOf({ spec, base, namespace }: Plan, part: Part, name = partName(base, part)): ObjectMeta {
  return {
    name,
    namespace,
    labels: {
      ...spec.resourceSpec?.labels,
      [labelKeys.name]: asLabel(spec.name),
      [labelKeys.instance]: base,
      [labelKeys.component]: part,
      [labelKeys.managedBy]: manager,
      [labelKeys.deployment]: spec.deploymentId,
    },
    annotations: { ...spec.resourceSpec?.annotations },
  };
}

export function podMetaOf(plan: Plan, part: Part): Pick<ObjectMeta, 'labels' | 'annotations'> {
  const { labels, annotations } = metaOf(plan, part);
  return { labels, annotations };
}

/** What the pods of all parts have in common. */
export const podSpecOf = ({ spec }: Plan): Record<string, unknown> => ({
  ...(spec.resourceSpec?.image_pull_secrets?.length
    ? { imagePullSecrets: spec.resourceSpec.image_pull_secrets.map(({ name }) => ({ name })) }
    : {}),
  enableServiceLinks: false,
  securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
});

/** The period of a startup probe: the rollout's deadline limits a start. */
export const untilDeadline = ({ settings }: Plan): { periodSeconds: number; failureThreshold: number } => ({
  periodSeconds: 2,
  failureThreshold: Math.ceil(settings.progressDeadlineSeconds / 2),
});
