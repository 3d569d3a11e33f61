import type { CallOptions } from '../contract/call-options.ts';
import {
  listener,
  listenersList,
  type Listener,
  type ListenerCreateRequest,
  type ListenerPatchRequest,
} from '../contract/control/listener.ts';
import {
  claimStanding,
  workClaim,
  type ClaimStanding,
  type WorkClaim,
  type WorkReport,
  type WorkRequest,
} from '../contract/control/listener-work.ts';
import { call, query, segment } from '../client/call.ts';
import { connection, type ConnectionSettings } from '../client/connection.ts';
import { readJson, readNothing, type Reader } from '../client/reading.ts';
import { backoffMs } from '../clock.ts';

/** The part of a control service that a listener needs, over HTTP. Every failure of the other party is a `ServiceError`. */
export interface WorkClient {
  /** A page of the listeners, oldest first. */
  listListeners(page: { limit: number; offset: number }, options?: CallOptions): Promise<Listener[]>;
  createListener(request: ListenerCreateRequest, options?: CallOptions): Promise<Listener>;
  patchListener(id: string, request: ListenerPatchRequest, options?: CallOptions): Promise<Listener>;
  /** Waits as long as requested; undefined if there is no work. Sent once: a claim whose response is lost expires. */
  claim(listenerId: string, request: WorkRequest, options?: CallOptions): Promise<WorkClaim | undefined>;
  renew(listenerId: string, claimId: string, options?: CallOptions): Promise<ClaimStanding>;
  report(listenerId: string, claimId: string, report: WorkReport, options?: CallOptions): Promise<ClaimStanding>;
  release(listenerId: string, claimId: string, options?: CallOptions & { undone?: boolean }): Promise<void>;
  close(): Promise<void>;
}

const readListener = readJson(listener);
const readListeners = readJson(listenersList);
const readClaim = readJson(workClaim);
const readStanding = readJson(claimStanding);

/** Beyond what a claim waits at the service (ms): for the way there and back. */
const onTheWayMs = 15_000;

export function connectWork(baseUrl: string, settings: ConnectionSettings): WorkClient {
  const link = connection(baseUrl, settings);
  const one = (id: string): string => `/v2/listeners/${segment('the listener id', id)}`;
  const claimPath = (id: string, claimId: string): string => `${one(id)}/claims/${segment('the claim id', claimId)}`;
  return {
    listListeners: async (page, options) =>
      (
        await call(
          link,
          { name: 'list listeners', method: 'GET', path: '/v2/listeners', query: query(page) },
          readListeners,
          options,
        )
      ).resources,
    createListener: (body, options) =>
      call(link, { name: 'create listener', method: 'POST', path: '/v2/listeners', body }, readListener, options),
    patchListener: (id, body, options) =>
      call(link, { name: 'patch listener', method: 'PATCH', path: one(id), body }, readListener, options),
    claim: (id, body, options) => {
      const longest = (body.wait_seconds ?? 0) * 1_000 + onTheWayMs;
      const path = `${one(id)}/claims`;
      const bounds = { attemptTimeoutMs: longest, callTimeoutMs: longest };
      return call(link, { name: 'claim work', method: 'POST', path, body, ...bounds }, readClaimOrNone, options);
    },
    // The three that follow may be sent again: the service takes each of them twice as it takes it once.
    renew: (id, claimId, options) => {
      const path = `${claimPath(id, claimId)}/renewal`;
      return call(link, { name: 'renew claim', method: 'POST', path, safe: true }, readStanding, options);
    },
    report: (id, claimId, body, options) => {
      const path = `${claimPath(id, claimId)}/status`;
      return call(link, { name: 'report work', method: 'PUT', path, body, safe: true }, readStanding, options);
    },
    release: (id, claimId, options) => {
      const path = claimPath(id, claimId);
      const requested = query({ undone: options?.undone });
      return call(link, { name: 'release claim', method: 'DELETE', path, query: requested }, readNothing, options);
    },
    close: () => link.close(),
  };
}

const readClaimOrNone: Reader<WorkClaim | undefined> = (reply) =>
  reply.status === 204 ? { ok: true, value: undefined } : readClaim(reply);

const shortestMs = 500;
const longestMs = 30_000;

/**
 * How long to wait after so many failures in a row (ms): longer each time, never the same for two of several that failed
 * together, and for as long as the server requests.
 *
 * @param random from 0 to 1.
 */
export function retryDelayMs(failures: number, random: number, requestedMs = 0): number {
  const most = backoffMs(failures, shortestMs, longestMs);
  return Math.max(requestedMs, most * (0.5 + random / 2));
}
