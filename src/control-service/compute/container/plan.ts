import type { Container, EnvVar, Volume, VolumeMount } from '../../../contract/control/container.ts';
import { resolvedResources, type ResolvedShare } from '../../rules/resolved-resources.ts';
import type { AgentSpec } from '../compute.ts';
import { memoryBound } from '../memory-bound.ts';
import { quantity } from './quantity.ts';

/** One container, as an engine's `create` takes it. */
export interface ContainerPlan {
  /** Its name within the deployment's revision: `main`, or what its spec calls it. */
  name: string;
  image: string;
  /** Flags of `create`, without those that depend on the engine. No secret is among them. */
  flags: string[];
  /** What follows the image. */
  command: string[];
  /** Its own environment: secrets. */
  env: Record<string, string>;
}

/** The containers of one revision, in the order in which they start. */
export interface PodPlan {
  /** Names of volumes that are made for the deployment, and stay as long as it does. */
  volumes: string[];
  /** Names of volumes that are made for this one run of it, and go with it. */
  passing: string[];
  /** Each runs to its end before the next. */
  init: ContainerPlan[];
  main: ContainerPlan;
  /** They share the main container's network. */
  sidecars: ContainerPlan[];
  /** What was asked for and has no effect on this machine, for the deploy log. */
  notes: string[];
}

/** What the main container runs besides the spec. */
export interface MainProgram {
  image: string;
  flags: string[];
  command: string[];
  env: Record<string, string>;
}

/** Processes and threads of one container. */
const processes = 1_024;

/** Never needed by an agent, though engines grant them. */
const hardening = [
  '--security-opt=no-new-privileges',
  '--cap-drop=NET_RAW',
  '--cap-drop=MKNOD',
  '--cap-drop=AUDIT_WRITE',
];

/**
 * What containers a revision is on one machine (control-service.md, ResourceSpec), or every reason why it can't be any:
 * what an agent would miss is refused, what only a cluster can have is told.
 *
 * @param run names this one start, in letters and digits.
 */
export function planPod(
  spec: Pick<AgentSpec, 'deploymentId' | 'resourceSpec' | 'deploymentType' | 'secretReferences'>,
  program: MainProgram,
  run: string,
): { ok: true; plan: PodPlan } | { ok: false; problems: string[] } {
  const { resourceSpec = {}, secretReferences } = spec;
  const problems: string[] = [];
  if (secretReferences.length > 0) {
    problems.push('secret_references name secrets of a cluster, and this machine is none: set secrets instead.');
  }
  const volumes = volumesOf(spec.deploymentId, run, resourceSpec.volumes ?? [], problems);
  const mounts = (list: readonly VolumeMount[] | null | undefined, where: string): string[] =>
    (list ?? []).flatMap((mount) => mountFlags(mount, volumes, `${where}.volume_mounts`, problems));
  const container = (of: Container, where: string): ContainerPlan => {
    checkImage(of.image, `${where}.image`, problems);
    const [entrypoint, ...rest] = of.command ?? [];
    return {
      name: of.name,
      image: of.image,
      flags: [
        ...hardening,
        `--pids-limit=${processes}`,
        ...(of.imagePullPolicy ? [`--pull=${pullPolicies[of.imagePullPolicy]}`] : []),
        ...(entrypoint === undefined ? [] : [`--entrypoint=${entrypoint}`]),
        ...(of.workingDir ? [`--workdir=${of.workingDir}`] : []),
        ...(of.restartPolicy ? [`--restart=${of.restartPolicy === 'Always' ? 'always' : 'on-failure'}`] : []),
        ...limitFlags(of, where, problems),
        ...securityFlags(of.securityContext, where, problems),
        ...mounts(of.volumeMounts, where),
      ],
      command: [...rest, ...(of.args ?? [])],
      env: environmentOf(of, where, problems),
    };
  };
  checkImage(program.image, 'source_revision_config.image_uri', problems);
  const resources = resolvedResources(resourceSpec).agent;
  const plan: PodPlan = {
    volumes: sourcesOf(volumes, 'kept'),
    passing: sourcesOf(volumes, 'passing'),
    init: (resourceSpec.init_containers ?? []).map((of, at) => container(of, `init_containers[${at}]`)),
    main: {
      name: 'main',
      image: program.image,
      flags: [
        ...hardening,
        `--pids-limit=${processes}`,
        ...shareFlags({ ...resources, memoryLimitMb: memoryBound(spec).totalMb }),
        ...Object.entries(resourceSpec.labels ?? {}).map(([name, value]) => `--label=${name}=${value}`),
        ...program.flags,
        ...mounts(resourceSpec.volume_mounts, 'resource_spec'),
      ],
      command: program.command,
      env: program.env,
    },
    sidecars: (resourceSpec.sidecars ?? []).map((of, at) => container(of, `sidecars[${at}]`)),
    notes: notesOn(resourceSpec),
  };
  return problems.length > 0 ? { ok: false, problems } : { ok: true, plan };
}

/** What begins with a hyphen would be a flag. */
function checkImage(image: string, where: string, problems: string[]): void {
  if (!/^[a-zA-Z0-9][\w./:@-]*$/.test(image)) problems.push(`${where}: ${JSON.stringify(image)} is no image.`);
}

const pullPolicies = { Always: 'always', Never: 'never', IfNotPresent: 'missing' } as const;

/** CPU and memory of a container. Beyond its memory it gets no swap. */
function shareFlags({ cpu, cpuLimit, memoryMb, memoryLimitMb }: ResolvedShare): string[] {
  return [
    ...(cpu === undefined ? [] : [`--cpu-shares=${Math.max(Math.round(cpu * 1_024), 2)}`]),
    ...(cpuLimit === undefined ? [] : [`--cpus=${cpuLimit}`]),
    ...(memoryMb ? [`--memory-reservation=${memoryMb}m`] : []),
    ...(memoryLimitMb ? [`--memory=${memoryLimitMb}m`, `--memory-swap=${memoryLimitMb}m`] : []),
  ];
}

function limitFlags({ resources }: Container, where: string, problems: string[]): string[] {
  const { limits, requests } = resources ?? {};
  const amount = (of: Readonly<Record<string, string>> | null | undefined, what: string, path: string) => {
    const told = of?.[what];
    const read = told === undefined ? undefined : quantity(told);
    if (told !== undefined && read === undefined)
      problems.push(`${where}.resources.${path}.${what}: ${told} is no amount.`);
    return read;
  };
  const megabytes = (bytes: number | undefined) => (bytes === undefined ? undefined : Math.ceil(bytes / 1_048_576));
  return shareFlags({
    cpu: amount(requests, 'cpu', 'requests'),
    cpuLimit: amount(limits, 'cpu', 'limits'),
    memoryMb: megabytes(amount(requests, 'memory', 'requests')),
    memoryLimitMb: megabytes(amount(limits, 'memory', 'limits')),
  });
}

interface PlannedVolume {
  kind: 'kept' | 'passing' | 'memory';
  source: string;
}

const sourcesOf = (volumes: ReadonlyMap<string, PlannedVolume>, kind: PlannedVolume['kind']): string[] =>
  [...volumes.values()].flatMap((volume) => (volume.kind === kind ? [volume.source] : []));

/** Storage that an engine has: of a deployment's own. */
function volumesOf(
  deploymentId: string,
  run: string,
  volumes: readonly Volume[],
  problems: string[],
): Map<string, PlannedVolume> {
  return new Map(
    volumes.map(({ name, emptyDir, persistentVolumeClaim, ...others }, at): [string, PlannedVolume] => {
      const foreign = Object.entries(others).flatMap(([kind, value]) => (value == null ? [] : [kind]));
      if (foreign.length > 0) {
        problems.push(
          `resource_spec.volumes[${at}]: ${foreign.join(', ')} is something of a cluster; this machine has emptyDir and persistentVolumeClaim.`,
        );
      }
      if (!persistentVolumeClaim) {
        const kind = emptyDir?.['medium'] === 'Memory' ? 'memory' : 'passing';
        return [name, { kind, source: `landfall-${deploymentId}-${run}-${name}` }];
      }
      const claim = persistentVolumeClaim['claimName'];
      if (typeof claim !== 'string' || !/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/.test(claim)) {
        problems.push(`resource_spec.volumes[${at}].persistentVolumeClaim.claimName is no name of a claim.`);
      }
      return [name, { kind: 'kept', source: `landfall-${deploymentId}-${String(claim)}` }];
    }),
  );
}

function mountFlags(
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

function environmentOf({ env, envFrom }: Container, where: string, problems: string[]): Record<string, string> {
  if (envFrom && envFrom.length > 0)
    problems.push(`${where}.envFrom takes variables from a cluster; list them in env.`);
  return Object.fromEntries(
    (env ?? []).map(({ name, value, valueFrom }: EnvVar, at) => {
      if (valueFrom) problems.push(`${where}.env[${at}].valueFrom takes a value from a cluster; give it as value.`);
      return [name, value ?? ''];
    }),
  );
}

function securityFlags(context: Container['securityContext'], where: string, problems: string[]): string[] {
  const { runAsUser, runAsGroup, readOnlyRootFilesystem, ...others } = context ?? {};
  const refused = Object.keys(others).filter(
    (field) => !restrictions.has(field) || (others[field] === true && field === 'privileged'),
  );
  if (refused.length > 0) problems.push(`${where}.securityContext: this machine does not grant ${refused.join(', ')}.`);
  const user =
    typeof runAsUser === 'number' ? `${runAsUser}${typeof runAsGroup === 'number' ? `:${runAsGroup}` : ''}` : undefined;
  return [
    ...(user === undefined ? [] : [`--user=${user}`]),
    ...(readOnlyRootFilesystem === true ? ['--read-only'] : []),
  ];
}

/** Fields that only take away what a container has not here either. */
const restrictions = new Set(['allowPrivilegeEscalation', 'privileged', 'runAsNonRoot', 'seccompProfile']);

function notesOn(spec: NonNullable<AgentSpec['resourceSpec']>): string[] {
  const { queue, cache, ignored } = notable(spec);
  const only = (fields: readonly string[], why: string): string[] =>
    fields.length === 0 ? [] : [`${fields.join(', ')}: ${why}`];
  const scale = (['min_scale', 'max_scale'] as const).filter((field) => (spec[field] ?? 1) !== 1);
  return [
    ...only(scale, 'this machine runs one replica.'),
    ...only(queue, "the queue's work is done by the agent itself on this machine."),
    ...only(cache, 'there is no cache on this machine.'),
    ...only(
      notableOf(spec, ['db_cpu', 'db_cpu_limit', 'db_memory_mb', 'db_memory_limit_mb', 'db_storage_gi']),
      'all deployments share the one Postgres of this machine.',
    ),
    ...only(
      notableOf(spec, ['service_account_name', 'image_pull_secrets', 'annotations']),
      'they are of a cluster. Log the engine in where images are private.',
    ),
    ...only(ignored, 'the document marks these as not to be used.'),
  ];
}

const notableOf = (spec: object, fields: readonly string[]): string[] =>
  Object.entries(spec).flatMap(([field, value]) => (fields.includes(field) && value != null ? [field] : []));

function notable(spec: NonNullable<AgentSpec['resourceSpec']>): {
  queue: string[];
  cache: string[];
  ignored: readonly string[];
} {
  const of = (prefix: string): string[] =>
    Object.entries(spec).flatMap(([field, value]) => (field.startsWith(prefix) && value != null ? [field] : []));
  return { queue: of('queue_'), cache: of('cache_'), ignored: resolvedResources(spec).ignored };
}
