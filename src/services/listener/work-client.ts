import type { CallOptions } from '../../contract/call-options.ts';
import {
  listener,
  listenersList,
  type ListenerCreateRequest,
  type ListenerPatchRequest,
} from '../../contract/control/listener.ts';
import {
  claimStanding,
  workClaim,
  type WorkClaim,
  type WorkReport,
  type WorkRequest,
} from '../../contract/control/listener-work.ts';
import { call, query, segment } from '../../client/call.ts';
import { connection, type ConnectionSettings } from '../../client/connection.ts';
import { readJson, readNothing, type Reader } from '../../client/response-readers.ts';
import { backoffMs } from '../../kit/clock.ts';

const readListener = readJson(listener);
const readListeners = readJson(listenersList);
const readClaim = readJson(workClaim);
const readStanding = readJson(claimStanding);

/** The time (ms) for a claim's transfer, beyond its wait at the service. */
const transferMs = 15_000;

/** The operations of a control service that a listener needs, over HTTP. Every failure of the service is a `ServiceError`. */
export function connectWork(baseUrl: string, settings: ConnectionSettings) {
  const link = connection(baseUrl, settings);
  const listenersPath = '/v2/listeners';
  const listenerPath = (id: string): string => `${listenersPath}/${segment('the listener id', id)}`;
  const claimPath = (id: string, claimId: string): string =>
    `${listenerPath(id)}/claims/${segment('the claim id', claimId)}`;
  return {
    /** A page of the listeners, oldest first. */
    listListeners: (page: { limit: number; offset: number }) =>
      call(link, { name: 'list listeners', method: 'GET', path: listenersPath, query: query(page) }, readListeners),
    createListener: (body: ListenerCreateRequest) =>
      call(link, { name: 'create listener', method: 'POST', path: listenersPath, body }, readListener),
    patchListener: (id: string, body: ListenerPatchRequest) =>
      call(link, { name: 'patch listener', method: 'PATCH', path: listenerPath(id), body }, readListener),
    /** Waits as long as requested; undefined if there is no work. Sent once: a claim whose response is lost expires. */
    claim: (id: string, body: WorkRequest, options?: CallOptions) => {
      const timeoutMs = (body.wait_seconds ?? 0) * 1_000 + transferMs;
      const path = `${listenerPath(id)}/claims`;
      const bounds = { attemptTimeoutMs: timeoutMs, callTimeoutMs: timeoutMs };
      return call(link, { name: 'claim work', method: 'POST', path, body, ...bounds }, readClaimOrNone, options);
    },
    // The next three may be repeated: they are idempotent.
    renew: (id: string, claimId: string, options?: CallOptions) => {
      const path = `${claimPath(id, claimId)}/renewal`;
      return call(link, { name: 'renew claim', method: 'POST', path, safe: true }, readStanding, options);
    },
    report: (id: string, claimId: string, body: WorkReport, options?: CallOptions) => {
      const path = `${claimPath(id, claimId)}/status`;
      return call(link, { name: 'report work', method: 'PUT', path, body, safe: true }, readStanding, options);
    },
    release: (id: string, claimId: string, options?: CallOptions) =>
      call(link, { name: 'release claim', method: 'DELETE', path: claimPath(id, claimId) }, readNothing, options),
    close: () => link.close(),
  };
}
export type WorkClient = ReturnType<typeof connectWork>;

const readClaimOrNone: Reader<WorkClaim | undefined> = (reply) =>
  reply.status === 204 ? { ok: true, value: undefined } : readClaim(reply);

const minMs = 500;
const maxMs = 30_000;

/**
 * How long to wait after so many failures in a row (ms): longer each time, with jitter by a `random` number up to 1, and
 * at least as long as the server requests.
 */
export function retryDelayMs(failures: number, random: number, requestedMs = 0): number {
  const maxDelayMs = backoffMs(failures, minMs, maxMs);
  return Math.max(requestedMs, maxDelayMs * (0.5 + random / 2));
}
