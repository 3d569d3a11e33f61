import { createProgramLogger } from '../../kit/program-logger.ts';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { asSentence } from '../../kit/plain-text.ts';
import { messageOf } from '../../kit/errors.ts';
import { steadyClock } from '../../kit/clock.ts';
import { readAddress } from '../../kit/base-address.ts';
import { leaseBounds } from '../../contract/control/listener-work.ts';
import { listenerCreateRequest } from '../../contract/control/listener.ts';
import { ServiceError } from '../../contract/service-error.ts';
import { kubernetesCompute } from '../control/compute/kubernetes-compute.ts';
import { imageProblem } from '../control/deployments/validation/value-problems.ts';
import { wrongArguments } from '../control/wrong-arguments.ts';
import type { ClaimDependencies } from './perform-claim.ts';
import { findListenerWithRetries, startListener } from './listener.ts';
import { connectWork } from './work-client.ts';
import { runProgram, type ProgramEnvironment } from '../../kit/run-until-signal.ts';

const defaultAtOnce = 4;

export const listenerUsage = `Carries out the deployments of a listener in a Kubernetes cluster. It runs beside the cluster and
needs no address of its own: it polls the control service for work. Several may run for one listener.

  --base-url URL       the control service (LANDFALL_BASE_URL)
  --compute-id NAME    the cluster's name: its listener is found by it, or made (LANDFALL_COMPUTE_ID)
  --namespaces A,B     the namespaces that deployments may ask for; any when absent (LANDFALL_K8S_NAMESPACES)
  --kubeconfig FILE    KUBECONFIG, ~/.kube/config or the pod's own account when absent
  --context NAME       the context in it; the current one when absent
  --at-once N          pieces of work at the same time (${defaultAtOnce})
  --rollout SECONDS    a revision that is not available after this time has failed (600)
  --trouble SECONDS    a pod error that does not resolve itself within this time fails the revision (30)
  --lease SECONDS      after this time without a renewal another listener takes the work over (${leaseBounds.usual})
  --cache-image IMAGE  what cache parts run (redis:7)
  --database-image IMAGE
                       what database parts run: Postgres, with the variables of its official image (postgres:17)
  --storage-class NAME the storage class of new volumes of databases; the cluster's own default when absent
  --private-webhooks   lets agents' webhooks go into private networks, the cluster's own included
  --api-key-file FILE  the key of the control service; LANDFALL_API_KEY holds the key itself
  --tenant-id UUID     for a key of several tenants (LANDFALL_TENANT_ID)
  --allow-http         lets the key go over plain http (LANDFALL_ALLOW_HTTP=true)
  --help`;

/** The name of an object without a namespace: a DNS subdomain. */
const objectName = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

const flags = {
  'base-url': { type: 'string' },
  'compute-id': { type: 'string' },
  namespaces: { type: 'string' },
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
  'at-once': { type: 'string' },
  lease: { type: 'string' },
  rollout: { type: 'string' },
  trouble: { type: 'string' },
  'cache-image': { type: 'string' },
  'database-image': { type: 'string' },
  'storage-class': { type: 'string' },
  'private-webhooks': { type: 'boolean' },
  'api-key-file': { type: 'string' },
  'tenant-id': { type: 'string' },
  'allow-http': { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Parses the command line over the environment; returns the settings, a request for help, or all problems at once. */
export function readListenerCommand(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string = (path) => readFileSync(path, 'utf8'),
) {
  let values;
  try {
    ({ values } = parseArgs({ args: [...args], options: flags }));
  } catch (error) {
    return { kind: 'wrong' as const, problems: [wrongArguments(error, Object.keys(flags))] };
  }
  if (values.help) return { kind: 'help' as const };
  const problems: string[] = [];
  const setting = (
    flag: 'base-url' | 'compute-id' | 'namespaces' | 'tenant-id',
    variable: string,
  ): string | undefined => values[flag]?.trim() || env[variable]?.trim() || undefined;
  const required = (written: string | undefined, what: string): string => {
    if (written === undefined) problems.push(what);
    return written ?? '';
  };
  type NumberFlag = 'at-once' | 'lease' | 'rollout' | 'trouble';
  const number = (flag: NumberFlag, fallback: number, min: number, max: number): number => {
    const written = values[flag] ?? String(fallback);
    const read = /^\d{1,4}$/.test(written) ? Number(written) : -1;
    if (read < min || read > max) problems.push(`--${flag} is a number from ${min} to ${max}.`);
    return read;
  };

  const baseUrl = required(setting('base-url', 'LANDFALL_BASE_URL'), 'Say where the control service is: --base-url.');
  const allowHttp = values['allow-http'] ?? env['LANDFALL_ALLOW_HTTP']?.trim().toLowerCase() === 'true';
  const address = baseUrl === '' ? undefined : readAddress(baseUrl, { allowHttp });
  if (address && !address.ok) problems.push(`--base-url ${address.shown}: ${address.problem}.`);
  const computeId = required(setting('compute-id', 'LANDFALL_COMPUTE_ID'), 'Name the cluster: --compute-id.');
  const namespaces = setting('namespaces', 'LANDFALL_K8S_NAMESPACES')
    ?.split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const listener = listenerCreateRequest.safeParse({
    compute_type: 'k8s',
    compute_id: computeId || 'unnamed',
    compute_config: { k8s_namespaces: namespaces },
  });
  for (const { path, message } of listener.error?.issues ?? []) {
    problems.push(`${path[0] === 'compute_id' ? '--compute-id' : '--namespaces'} ${message}.`);
  }
  let apiKey = env['LANDFALL_API_KEY']?.trim();
  const file = values['api-key-file'];
  try {
    if (file !== undefined) apiKey = readFile(file).trim();
  } catch (error) {
    problems.push(`--api-key-file ${file} can't be read: ${messageOf(error)}.`);
  }
  const atOnce = number('at-once', defaultAtOnce, 1, 64);
  const leaseSeconds = number('lease', leaseBounds.usual, leaseBounds.shortest, leaseBounds.longest);
  const rolloutWithinMs = number('rollout', 600, 10, 7_200) * 1_000;
  const failureGraceMs = number('trouble', 30, 1, 3_600) * 1_000;
  const image = (flag: 'cache-image' | 'database-image'): string | undefined => {
    const uri = values[flag];
    if (uri !== undefined && imageProblem(uri) !== undefined) {
      problems.push(`--${flag} is the address of an image, as in registry.example.com/base/redis:7.`);
    }
    return uri;
  };
  const [cacheImage, databaseImage] = [image('cache-image'), image('database-image')];
  const storageClass = values['storage-class'];
  if (storageClass !== undefined && !objectName.test(storageClass)) {
    problems.push('--storage-class is the name of a StorageClass: lower-case letters, digits, hyphens and dots.');
  }
  if (!apiKey) problems.push('Give a key of the control service: LANDFALL_API_KEY, or --api-key-file.');
  if (problems.length > 0) return { kind: 'wrong' as const, problems };
  return {
    kind: 'run' as const,
    connection: { baseUrl, apiKey: apiKey ?? '', tenantId: setting('tenant-id', 'LANDFALL_TENANT_ID'), allowHttp },
    // Undefined namespaces keep those of an existing listener.
    listener: { computeId, namespaces },
    cluster: {
      kubeconfig: values.kubeconfig,
      context: values.context,
      rolloutWithinMs,
      failureGraceMs,
      cacheImage,
      databaseImage,
      storageClass,
      privateWebhooks: values['private-webhooks'] ?? false,
    },
    atOnce,
    leaseSeconds,
  };
}

export interface ListenerEnvironment extends ProgramEnvironment {
  version: string;
}

/** Runs a listener until it should stop or is rejected; returns the exit code. */
export async function runListener(args: readonly string[], environment: ListenerEnvironment): Promise<number> {
  const { env, version, say, printError, isTerminal = false, leave } = environment;
  const read = readListenerCommand(args, env);
  if (read.kind === 'help') {
    say(listenerUsage);
    return 0;
  }
  if (read.kind === 'wrong') {
    printError(`${read.problems.join('\n')}\nAll options: landfall listener --help`);
    return 2;
  }
  const { connection, listener: requestedListener, cluster, atOnce, leaseSeconds } = read;
  const { baseUrl, ...credentials } = connection;
  const clock = steadyClock;
  const log = createProgramLogger({ name: 'listener', env, isTerminal, write: printError });
  const shared = { clock, random: Math.random, log };
  const work = connectWork(baseUrl, { ...credentials, userAgent: `landfall-listener/${version}`, clock });
  const stopping = new AbortController();
  void leave.then(() => stopping.abort());
  try {
    const found = await findListenerWithRetries(
      work,
      { ...requestedListener, version },
      { ...shared, stopping: stopping.signal },
    );
    if (!found) return 0;
    const listener = startListener({
      ...shared,
      work,
      listenerId: found.id,
      compute: kubernetesCompute({ clock, ...cluster }),
      holder: `${hostname()} (${process.pid})`,
      atOnce,
      leaseSeconds,
      tracingAt: tracingFrom(baseUrl),
    });
    void leave.then(() => listener.stop());
    say(`Listening for work of ${requestedListener.computeId} (${found.id}) at ${baseUrl}. End it with Ctrl-C.`);
    const problem = await listener.ended;
    if (problem === undefined) return 0;
    printError(`${asSentence(problem)} ${advice}`);
    return 1;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    printError(`${asSentence(error.message)} ${advice}`);
    return 1;
  } finally {
    await work.close();
  }
}

/** The trace export address of agents: the one that this listener uses, unless that is only reachable on this machine. */
function tracingFrom(baseUrl: string): ClaimDependencies['tracingAt'] {
  const read = readAddress(baseUrl, { allowHttp: true });
  if (!read.ok || read.address.loopback) return undefined;
  const { origin, prefix } = read.address;
  return ({ project_id, token }) => ({ url: `${origin}${prefix}/v1/projects/${project_id}/runs`, token });
}

const advice =
  'Check the base address, the key and its tenant, and that the listener was not deleted; then start the listener again.';

/** Runs a listener as this process until it is stopped, and ends the process. `args` follow `landfall listener`. */
export const runListenerProgram = (args: readonly string[], version: string): Promise<never> =>
  runProgram((environment) => runListener(args, { ...environment, version }));
