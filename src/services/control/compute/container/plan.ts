import type { Container, EnvVar, VolumeMount } from '../../../../contract/control/container.ts';
import { resolvedResources } from '../../deployments/validation/resolved-resources.ts';
import type { AgentSpec } from '../compute.ts';
import { megabyte, memoryBound } from '../memory-bound.ts';
import { mountFlags, sourcesOf, volumesOf } from './plan-volumes.ts';
import { quantity } from '../../kubernetes/quantities.ts';

/** The arguments of `create` for one container. */
export interface ContainerPlan extends MainProgram {
  /** Its name within the revision: `main`, or as in its spec. */
  name: string;
}

/** The containers of one revision, in the order in which they start. */
export interface PodPlan {
  /** Volumes of the deployment, which outlive a run. */
  volumes: string[];
  /** Volumes of this run, which are removed with it. */
  runVolumes: string[];
  init: ContainerPlan[];
  main: ContainerPlan;
  /** They share the main container's network. */
  sidecars: ContainerPlan[];
  /** Flags of `create` with the deployment's own labels, for everything that is created. */
  labels: string[];
  /** The requested settings that have no effect on this machine, for the deploy log. */
  notes: string[];
}

export interface MainProgram {
  image: string;
  /** Flags of `create`, without those that depend on the engine, and without secrets. */
  flags: string[];
  command: string[];
  env: Record<string, string>;
}

/** Removes capabilities that engines grant by default and no agent needs. */
const hardening = [
  '--security-opt=no-new-privileges',
  '--cap-drop=NET_RAW',
  '--cap-drop=MKNOD',
  '--cap-drop=AUDIT_WRITE',
  '--pids-limit=1024',
];

/**
 * Plans the containers of a revision on one machine, or returns every problem. A setting that this machine can't honour
 * is a problem if the containers need it, else a note. `run` consists of letters and digits.
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
  const labels = Object.entries(resourceSpec.labels ?? {}).map(([name, value]) => `--label=${name}=${value}`);
  const container = (source: Container, where: string): ContainerPlan => {
    checkImage(source.image, `${where}.image`, problems);
    const [entrypoint, ...rest] = source.command ?? [];
    return {
      name: source.name,
      image: source.image,
      flags: [
        ...hardening,
        ...labels,
        ...(source.imagePullPolicy ? [`--pull=${pullPolicies[source.imagePullPolicy]}`] : []),
        ...(entrypoint === undefined ? [] : [`--entrypoint=${entrypoint}`]),
        ...(source.workingDir ? [`--workdir=${source.workingDir}`] : []),
        ...(source.restartPolicy ? [`--restart=${source.restartPolicy === 'Always' ? 'always' : 'on-failure'}`] : []),
        ...limitFlags(source, where, problems),
        ...securityFlags(source.securityContext, where, problems),
        ...mounts(source.volumeMounts, where),
      ],
      command: [...rest, ...(source.args ?? [])],
      env: environmentOf(source, where, problems),
    };
  };
  checkImage(program.image, 'source_revision_config.image_uri', problems);
  const resources = resolvedResources(resourceSpec).agent;
  const plan: PodPlan = {
    volumes: sourcesOf(volumes, 'deployment'),
    runVolumes: sourcesOf(volumes, 'run'),
    init: (resourceSpec.init_containers ?? []).map((of, at) => container(of, `init_containers[${at}]`)),
    main: {
      name: 'main',
      image: program.image,
      flags: [
        ...hardening,
        ...resourceFlags({
          cpu: resources.cpu,
          cpuLimit: resources.cpuLimit,
          memory: (resources.memoryMb ?? 0) * megabyte,
          memoryLimit: memoryBound(spec).totalMb * megabyte,
        }),
        ...labels,
        ...program.flags,
        ...mounts(resourceSpec.volume_mounts, 'resource_spec'),
      ],
      command: program.command,
      env: program.env,
    },
    sidecars: (resourceSpec.sidecars ?? []).map((of, at) => container(of, `sidecars[${at}]`)),
    labels,
    notes: notesOn(resourceSpec),
  };
  return problems.length > 0 ? { ok: false, problems } : { ok: true, plan };
}

/** Rejects an image that begins with a hyphen: the engine would read it as a flag. */
function checkImage(image: string, where: string, problems: string[]): void {
  if (!/^[a-zA-Z0-9][\w./:@-]*$/.test(image)) problems.push(`${where}: ${JSON.stringify(image)} is no image.`);
}

const pullPolicies = { Always: 'always', Never: 'never', IfNotPresent: 'missing' } as const;

/** The flags for a container's CPU (cores) and memory (bytes: an engine's `m` is not a MB), without swap. */
function resourceFlags({
  cpu,
  cpuLimit,
  memory = 0,
  memoryLimit = 0,
}: Record<'cpu' | 'cpuLimit' | 'memory' | 'memoryLimit', number | undefined>): string[] {
  const [requested, limit] = [Math.ceil(memory), Math.ceil(memoryLimit)];
  return [
    ...(cpu === undefined ? [] : [`--cpu-shares=${Math.max(Math.round(cpu * 1_024), 2)}`]),
    ...(cpuLimit === undefined ? [] : [`--cpus=${cpuLimit}`]),
    ...(requested ? [`--memory-reservation=${requested}b`] : []),
    ...(limit ? [`--memory=${limit}b`, `--memory-swap=${limit}b`] : []),
  ];
}

function limitFlags({ resources }: Container, where: string, problems: string[]): string[] {
  const { limits, requests } = resources ?? {};
  const amount = (of: Readonly<Record<string, string>> | null | undefined, what: string, path: string) => {
    const text = of?.[what];
    const read = text === undefined ? undefined : quantity(text);
    if (text !== undefined && read === undefined)
      problems.push(`${where}.resources.${path}.${what}: ${text} is no amount.`);
    return read;
  };
  return resourceFlags({
    cpu: amount(requests, 'cpu', 'requests'),
    cpuLimit: amount(limits, 'cpu', 'limits'),
    memory: amount(requests, 'memory', 'requests'),
    memoryLimit: amount(limits, 'memory', 'limits'),
  });
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
    (field) => !impliedRestrictions.has(field) || (others[field] === true && field === 'privileged'),
  );
  if (refused.length > 0) problems.push(`${where}.securityContext: this machine does not grant ${refused.join(', ')}.`);
  const group = typeof runAsGroup === 'number' ? `:${runAsGroup}` : '';
  return [
    ...(typeof runAsUser === 'number' ? [`--user=${runAsUser}${group}`] : []),
    ...(readOnlyRootFilesystem === true ? ['--read-only'] : []),
  ];
}

/** Restrictions that this machine enforces anyway. */
const impliedRestrictions = new Set(['allowPrivilegeEscalation', 'privileged', 'runAsNonRoot', 'seccompProfile']);

const databaseFields = ['db_cpu', 'db_cpu_limit', 'db_memory_mb', 'db_memory_limit_mb', 'db_storage_gi'];
const clusterFields = ['service_account_name', 'image_pull_secrets', 'annotations'];

/** The requested settings that have no effect on this machine, for the deploy log. */
function notesOn(spec: NonNullable<AgentSpec['resourceSpec']>): string[] {
  const setFields = Object.entries(spec).flatMap(([field, value]) => (value == null ? [] : [field]));
  const noteOn = (fields: readonly string[], reason: string): string[] =>
    fields.length === 0 ? [] : [`${fields.join(', ')}: ${reason}`];
  const startingWith = (prefix: string): string[] => setFields.filter((field) => field.startsWith(prefix));
  const among = (fields: readonly string[]): string[] => setFields.filter((field) => fields.includes(field));
  const scale = (['min_scale', 'max_scale'] as const).filter((field) => (spec[field] ?? 1) !== 1);
  return [
    ...noteOn(scale, 'this machine runs one replica.'),
    ...noteOn(startingWith('queue_'), "the queue's work is done by the agent itself on this machine."),
    ...noteOn(startingWith('cache_'), 'there is no cache on this machine.'),
    ...noteOn(among(databaseFields), 'all deployments share the one Postgres of this machine.'),
    ...noteOn(among(clusterFields), 'they are of a cluster. Log the engine in where images are private.'),
    ...noteOn(resolvedResources(spec).ignored, 'the document marks these as not to be used.'),
  ];
}
