/** Revisions to build manifests for. */
import type { ResourceSpec } from '../../../../src/contract/control/resource-spec.ts';
import type { ManifestInput } from '../../../../src/services/control/kubernetes/input.ts';
import type { Manifest } from '../../../../src/services/control/kubernetes/manifest.ts';
import { kubernetesManifests } from '../../../../src/services/control/kubernetes/manifests.ts';
import { isObject } from '../../../../src/kit/json-object.ts';

/** Base name of the objects of these inputs' deployment. */
export const base = 'support-agent-0c0ffee0';

/** A revision of an image, with changes. */
export function inputOf(
  spec: Partial<ManifestInput['spec']> = {},
  more: Partial<Omit<ManifestInput, 'spec'>> = {},
): ManifestInput {
  return {
    spec: {
      deploymentId: '4d1f2a3b-0000-4000-8000-00000c0ffee0',
      revisionId: '9a8b7c6d-0000-4000-8000-0000beef0001',
      name: 'support-agent',
      databaseUrl: 'postgres://agent:pass-of-the-database@db.example.com:5432/agent',
      secrets: [],
      secretReferences: [],
      resourceSpec: undefined,
      tracing: undefined,
      ...spec,
    },
    imageUri: 'registry.example.com/agent:1',
    namespace: 'team-a',
    databasePassword: 'pass-of-our-own-database',
    running: {},
    settings: {
      cacheImage: 'redis:7',
      databaseImage: 'postgres:17',
      progressDeadlineSeconds: 600,
      drainMs: 30_000,
      privateWebhooks: false,
    },
    ...more,
  };
}

/** The objects of a ResourceSpec, and the fields without effect. */
export const madeOf = (resourceSpec: ResourceSpec) => kubernetesManifests(inputOf({ resourceSpec }));

/** Finds one object. */
export function one(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (!found)
    throw new Error(
      `no ${kind} ${name} among ${manifests.map(({ kind: its, metadata }) => `${its} ${metadata.name}`).join(', ')}`,
    );
  return found;
}

/** The value at a dotted path; numbers are indexes of a list. */
export const at = (object: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((here, step) => {
    if (Array.isArray(here)) return here[Number(step)];
    return isObject(here) ? here[step] : undefined;
  }, object);
