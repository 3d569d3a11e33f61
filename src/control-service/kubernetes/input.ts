import type { AgentSpec } from '../compute/compute.ts';
import type { ResolvedResources } from '../deployments/validation/resolved-resources.ts';
import { type ObjectMeta, type Part, asLabel, labelKeys, manager, partName } from './manifest.ts';

/** The settings of the parts: images, storage and timeouts. */
export interface PartSettings {
  cacheImage: string;
  /** The image of the database part: Postgres, with the variables of its official image. */
  databaseImage: string;
  /** The storage class of the database part's volume; the cluster's own default when absent. */
  storageClass?: string | undefined;
  progressDeadlineSeconds: number;
  /** The milliseconds that an agent may take to drain when it is stopped. */
  drainMs: number;
  /** Whether webhooks of agents may reach private networks. */
  privateWebhooks: boolean;
}

/** The inputs of a revision's manifests. */
export interface ManifestInput {
  /** The revision, its deployment and the ResourceSpec; the program is an image. */
  spec: Omit<AgentSpec, 'program' | 'log' | 'deploymentType' | 'namespace' | 'user'>;
  imageUri: string;
  namespace: string;
  /** The password of the database part: created once per deployment. A secret. */
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

export const pullSecrets = ({ spec }: Plan): Record<string, unknown> =>
  spec.resourceSpec?.image_pull_secrets?.length
    ? { imagePullSecrets: spec.resourceSpec.image_pull_secrets.map(({ name }) => ({ name })) }
    : {};
