import type { Container, EnvVar, Volume, VolumeMount } from '../../contract/control/container.ts';
import { withoutNulls } from './manifest.ts';

/** control-service.md, Volume: a name and one source, passed on unchanged. */
export const volumeOf = (volume: Volume): Record<string, unknown> => withoutNulls(volume);

/** control-service.md, VolumeMount. */
export const mountOf = (mount: VolumeMount): Record<string, unknown> => withoutNulls(mount);

/** control-service.md, EnvVar: an empty `value` by default. */
const variableOf = ({ name, value, valueFrom }: EnvVar): Record<string, unknown> =>
  valueFrom ? { name, valueFrom } : { name, value: value ?? '' };

/** control-service.md, Container, without its restart policy, which decides its place in the pod. */
function containerOf({ env, resources, volumeMounts, ...rest }: Container): Record<string, unknown> {
  return withoutNulls({
    ...rest,
    restartPolicy: undefined,
    env: env?.map(variableOf),
    resources: resources ? withoutNulls(resources) : undefined,
    volumeMounts: volumeMounts?.map(mountOf),
  });
}

/** The places of a ResourceSpec's containers in a pod. */
export interface PlacedContainers {
  initContainers: Record<string, unknown>[];
  /** Beside the main one. */
  containers: Record<string, unknown>[];
  /** The requested settings without effect, as paths in the ResourceSpec. */
  ignored: string[];
}

/**
 * Init containers run one after the other, each to its end, before anything else. A sidecar with `restartPolicy: Always`
 * is a native sidecar of Kubernetes: an init container that keeps running, from before the main one starts until after it
 * ends. Any other sidecar runs beside the main container and is always restarted, because the pods of a Deployment know
 * no other policy: `OnFailure` is reported as ignored.
 */
export function placed(
  initContainers: readonly Container[] | null | undefined,
  sidecars: readonly Container[] | null | undefined,
): PlacedContainers {
  const all = sidecars ?? [];
  const native = all.filter(({ restartPolicy }) => restartPolicy === 'Always');
  const plain = all.filter(({ restartPolicy }) => restartPolicy !== 'Always');
  return {
    initContainers: [
      ...(initContainers ?? []).map(containerOf),
      ...native.map((container) => ({ ...containerOf(container), restartPolicy: 'Always' })),
    ],
    containers: plain.map(containerOf),
    ignored: plain
      .filter(({ restartPolicy }) => restartPolicy === 'OnFailure')
      .map(({ name }) => `sidecars.${name}.restartPolicy`),
  };
}
