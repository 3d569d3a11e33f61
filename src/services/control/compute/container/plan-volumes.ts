import type { Volume, VolumeMount } from '../../../../contract/control/container.ts';

interface PlannedVolume {
  /** Its lifetime: the deployment's, one run's, or in memory. */
  kind: 'deployment' | 'run' | 'memory';
  source: string;
}

export const sourcesOf = (volumes: ReadonlyMap<string, PlannedVolume>, kind: PlannedVolume['kind']): string[] =>
  [...volumes.values()].flatMap((volume) => (volume.kind === kind ? [volume.source] : []));

/** Plans a deployment's volumes, by the names that mounts use; adds a problem for each unsupported one. */
export function volumesOf(
  deploymentId: string,
  run: string,
  volumes: readonly Volume[],
  problems: string[],
): Map<string, PlannedVolume> {
  return new Map(
    volumes.map(({ name, emptyDir, persistentVolumeClaim, ...others }, index): [string, PlannedVolume] => {
      const clusterKinds = Object.entries(others).flatMap(([kind, value]) => (value == null ? [] : [kind]));
      if (clusterKinds.length > 0) {
        problems.push(
          `resource_spec.volumes[${index}]: ${clusterKinds.join(', ')} is something of a cluster; this machine has emptyDir and persistentVolumeClaim.`,
        );
      }
      if (!persistentVolumeClaim) {
        const kind = emptyDir?.['medium'] === 'Memory' ? 'memory' : 'run';
        return [name, { kind, source: `landfall-${deploymentId}-${run}-${name}` }];
      }
      const claim = persistentVolumeClaim['claimName'];
      if (typeof claim !== 'string' || !/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/.test(claim)) {
        problems.push(`resource_spec.volumes[${index}].persistentVolumeClaim.claimName is no name of a claim.`);
      }
      return [name, { kind: 'deployment', source: `landfall-${deploymentId}-${String(claim)}` }];
    }),
  );
}

/** The flags of `create` for a mount; adds a problem for an unsupported one. */
export function mountFlags(
  { name, mountPath, subPath, subPathExpr, readOnly }: VolumeMount,
  volumes: ReadonlyMap<string, PlannedVolume>,
  where: string,
  problems: string[],
): string[] {
  const volume = volumes.get(name);
  if (!volume) return [];
  if (subPath || subPathExpr) {
    problems.push(`${where}: ${name} is mounted by a part of it, which this machine can't; mount it whole.`);
  }
  if (mountPath.includes(',')) problems.push(`${where}: the path ${mountPath} holds a comma.`);
  if (volume.kind === 'memory') return [`--mount=type=tmpfs,destination=${mountPath}`];
  return [`--mount=type=volume,source=${volume.source},destination=${mountPath}${readOnly ? ',readonly' : ''}`];
}
