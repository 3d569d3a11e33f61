import type { KubeConfig } from '@kubernetes/client-node';
import { codeOf } from '../../../kit/errors.ts';
import { pause, withTimeout, type Clock } from '../../../kit/clock.ts';
import { fromJson } from '../../../kit/json-text.ts';
import { withoutTrailingSlashes } from '../../../kit/plain-text.ts';
import { ServiceError, type ServiceErrorKind } from '../../../contract/service-error.ts';
import * as z from 'zod';

export interface ClusterDependencies {
  clock: Clock;
  /** Path of a kubeconfig. Absent: `KUBECONFIG`, then `~/.kube/config`, then the pod's own service account. */
  kubeconfig?: string | undefined;
  context?: string | undefined;
  /** The timeout of a request in milliseconds; 20 s when absent. */
  answerWithinMs?: number;
}

interface ClusterRequest {
  /** Its description: `apply Deployment support-agent-1a2b3c4d`. */
  operation: string;
  method: 'GET' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string>;
  /** The body: JSON, which is YAML. */
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** Called before each attempt; an error ends the request. */
  check?: (() => void) | undefined;
}

/** A cluster's API. All requests are idempotent: reading, applying and deleting. */
export interface Connection {
  server: string;
  /** The namespace of its context, else `default`. */
  namespace: string;
  /**
   * Sends a request; retries where the cluster was busy, failed or could not be reached. Returns the text of the
   * response.
   *
   * @throws ServiceError when it was refused, or the last attempt failed.
   */
  send(request: ClusterRequest): Promise<string>;
}

export type Connected = { kind: 'connected'; connection: Connection } | { kind: 'none'; reason: string };

const retryDelaysMs = [500, 1_000, 2_000, 4_000, 8_000];
/** The longest wait that a `Retry-After` can request. */
const maxWaitMs = 30_000;

/** Reads the cluster's address and credentials. Sends no request. */
export async function connect(settings: ClusterDependencies): Promise<Connected> {
  // Loaded lazily: it is large, and most services need no cluster.
  const client = await import('@kubernetes/client-node');
  const { clock, answerWithinMs = 20_000 } = settings;
  const config = new client.KubeConfig();
  const sources = settings.kubeconfig ?? 'KUBECONFIG, ~/.kube/config and the service account of a pod';
  try {
    if (settings.kubeconfig === undefined) config.loadFromDefault();
    else config.loadFromFile(settings.kubeconfig);
    if (settings.context !== undefined) config.setCurrentContext(settings.context);
  } catch (error) {
    const code = codeOf(error) || 'it is no kubeconfig';
    return { kind: 'none', reason: `The kubeconfig could not be read (${sources}): ${code}.` };
  }
  const cluster = config.getCurrentCluster();
  const context = config.getContextObject(config.getCurrentContext());
  // Without any configuration the client would use kubectl's proxy on this machine.
  const isGuess = cluster?.name === 'cluster' && cluster.server === 'http://localhost:8080';
  if (!cluster || (isGuess && settings.kubeconfig === undefined)) {
    const requested = settings.context === undefined ? '' : `, which has no context ${settings.context} with a cluster`;
    const reason = `No cluster is configured: looked at ${sources}${requested}. Set KUBECONFIG to a kubeconfig whose current context names the cluster.`;
    return { kind: 'none', reason };
  }
  const server = withoutTrailingSlashes(cluster.server);
  const sender = { client, config, server, clock, answerWithinMs };
  const send: Connection['send'] = (request) => sendWithRetries(sender, request);
  return { kind: 'connected', connection: { server, namespace: context?.namespace ?? 'default', send } };
}

interface Sender {
  client: typeof import('@kubernetes/client-node');
  config: KubeConfig;
  server: string;
  clock: Clock;
  answerWithinMs: number;
}

async function sendWithRetries(sender: Sender, request: ClusterRequest): Promise<string> {
  for (let retries = 0; ; retries += 1) {
    request.check?.();
    try {
      return await sendOnce(sender, request);
    } catch (error) {
      const wait = retryDelaysMs[retries];
      if (!(error instanceof ServiceError) || wait === undefined || !isRetryable(error)) throw error;
      if (request.signal?.aborted) throw error;
      await pause(sender.clock, Math.min(maxWaitMs, Math.max(wait, error.retryAfterMs ?? 0)), request.signal);
    }
  }
}

/** Whether to retry: yes for an unavailable server or a concurrent write, no where another manager owns the fields. */
const isRetryable = ({ kind, detail }: ServiceError): boolean =>
  kind === 'busy' || kind === 'unreachable' || (kind === 'conflict' && !/conflicts? with/.test(detail ?? ''));

async function sendOnce(
  { client, config, server, clock, answerWithinMs }: Sender,
  { operation, method, path, query = {}, body, signal }: ClusterRequest,
): Promise<string> {
  const address = `${server}${path}`;
  const effect = method === 'GET' ? 'none' : 'unknown';
  const context = new client.RequestContext(address, client.HttpMethod[method]);
  for (const [name, value] of Object.entries(query)) context.setQueryParam(name, value);
  if (body !== undefined) {
    context.setHeaderParam('content-type', client.PatchStrategy.ServerSideApply);
    context.setBody(JSON.stringify(body));
  }
  const exchange = async (bound: AbortSignal): Promise<string> => {
    context.setSignal(bound);
    try {
      await config.applySecurityAuthentication(context);
      const response = await new client.IsomorphicFetchHttpLibrary().send(context).toPromise();
      const text = await response.body.text();
      if (response.httpStatusCode < 300) return text;
      const { httpStatusCode: status, headers } = response;
      const failure = { kind: kindOf(status), status, ...readFailure(text, headers['retry-after']) };
      throw new ServiceError({ ...failure, operation, method, address, effect });
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      const detail = causeOf(bound.aborted ? bound.reason : error);
      throw new ServiceError({ kind: 'unreachable', detail, operation, method, address, effect });
    } finally {
      // The client creates a pool of connections for every request.
      await context.getDispatcher()?.close();
    }
  };
  return withTimeout(clock, answerWithinMs, exchange, signal);
}

function kindOf(status: number): ServiceErrorKind {
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 404) return 'missing';
  if (status === 409) return 'conflict';
  return status === 429 || status >= 500 ? 'busy' : 'rejected';
}

const statusSchema = z.object({
  message: z.string(),
  details: z.object({ retryAfterSeconds: z.number().optional() }).optional(),
});

const maxDetailLength = 1_000;

/** Reads the cluster's message from a failure's `Status`, and when to retry. */
function readFailure(text: string, retryAfter: string | undefined): { detail?: string; retryAfterMs?: number } {
  const parsed = statusSchema.safeParse(fromJson(text));
  const seconds = (parsed.data?.details?.retryAfterSeconds ?? Number(retryAfter ?? Number.NaN)) || 0;
  return {
    ...(parsed.success ? { detail: parsed.data.message.slice(0, maxDetailLength) } : {}),
    ...(seconds > 0 ? { retryAfterMs: seconds * 1_000 } : {}),
  };
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? causeOf(error.cause) : error.message.slice(0, maxDetailLength);
}
