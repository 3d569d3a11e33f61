import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../../../kit/errors.ts';
import type { Clock } from '../../../kit/clock.ts';
import { agentAccessHeader, backgroundHeader } from '../../../contract/control/session.ts';
import { admissionWatch } from '../api-keys/admission-watch.ts';
import { holdsApiKey } from '../api-keys/api-key.ts';
import { setPublicAddress } from './headers.ts';
import { isFromBrowser } from './response-headers.ts';
import { openRoute, type AgentRoute, type OpenRoute, type UpgradeRequest } from './agent-route.ts';
import type { Upstream } from './request-agent.ts';
import { noRecord, type RequestRecord } from './pass-on.ts';
import { consoleOriginOf } from './agents-origin.ts';
import { allowAgentAccess, isPreflight, requestsAgentAccess } from './preflight.ts';
import { isUiFile, hasUiDestination } from './ui-file.ts';
import { gatewayErrors, sendGatewayError, type GatewayError } from './gateway-error.ts';
import type { Logger } from '../../../kit/logger.ts';

/** Whether a caller may reach an agent. `session`: a browser with a session may; `missing`: also for other tenants'. */
export type Admission = 'allowed' | 'session' | 'missing' | (Pick<GatewayError, 'detail'> & { status: 401 | 403 });

interface GatewayDependencies {
  /**
   * Called for every request on every path (docs/design/agent-access.md), except preflights and UI files of a live
   * agent, and again every 15 s while a response lasts, then marked as in the background. `header` reads one of the
   * request's headers; `at` is the time at which the request began.
   */
  authorize: (
    deploymentId: string,
    header: (name: string) => string | undefined,
    method: string,
    at: number,
  ) => Promise<Admission>;
  /** Counts an admitted request of a deployment, except those of sessions. Called for each, so it must be cheap. */
  count?: (deploymentId: string) => RequestRecord;
  /** The service's public address, from which agents learn their own. When absent, they get the one that callers use. */
  publicUrl?: string | undefined;
  agentsUrl?: string | undefined;
  /** Whether the agent of a deployment is starting. Called for each request to a deployment without a live agent. */
  isStarting?: (deploymentId: string) => boolean;
  /** The agents that are scaled to zero until a request needs them. */
  idle?: () => {
    isScaledToZero: (deploymentId: string) => boolean;
    /** Starts one; undefined where it is not scaled to zero. Resolves once it serves, or fails to start. */
    wakeAgent: (deploymentId: string) => Promise<void> | undefined;
  };
  clock: Clock;
  log: Logger;
  /** The timeout of a response's start (ms). */
  answerWithinMs?: number;
}

/** Serves the addresses of all agents: `/agents/<deployment id>/...`, whichever process runs them. */
export class Gateway {
  readonly #dependencies: GatewayDependencies;
  readonly #routes = new Map<string, OpenRoute>();
  /** The routes to held revisions, by `<deployment id>@<revision id>`. */
  readonly #held = new Map<string, OpenRoute>();
  readonly #watch: ReturnType<typeof admissionWatch>;

  constructor(dependencies: GatewayDependencies) {
    this.#dependencies = dependencies;
    this.#watch = admissionWatch(dependencies.clock);
  }

  /**
   * Handles a request if it is for an agent, else returns false. `basePath` is the prefix that was removed from its
   * path; `upgrade` is present where it asks for a WebSocket.
   */
  readonly handle = (
    request: IncomingMessage,
    response: ServerResponse,
    basePath = '',
    upgrade?: UpgradeRequest,
  ): boolean => {
    const target = readAgentPath(request.url ?? '/');
    if (!target) return false;
    this.#respond(target, request, response, basePath, upgrade).catch((error: unknown) => {
      this.#dependencies.log.error(`A request to an agent failed: ${messageOf(error)}`);
      sendGatewayError(response, gatewayErrors.broken);
    });
    return true;
  };

  /** Sends new requests to the new process from now on. Returns the replaced route, for the caller to drain and close. */
  switchTo(deploymentId: string, upstream: Upstream): AgentRoute | undefined {
    const replacedRoute = this.#routes.get(deploymentId);
    this.#routes.set(deploymentId, this.#open(upstream));
    return replacedRoute;
  }

  /** Answers new requests with "nothing is live" from now on. Returns the withdrawn route, for the caller to drain and close. */
  withdraw(deploymentId: string): AgentRoute | undefined {
    const withdrawnRoute = this.#routes.get(deploymentId);
    this.#routes.delete(deploymentId);
    return withdrawnRoute;
  }

  /** Serves a held revision at its own address. Returns a function that ends this, and cuts off requests unless `keepsServing`. */
  hold(deploymentId: string, revisionId: string, upstream: Upstream): (goesOn: boolean) => void {
    const route = this.#open(upstream);
    const name = heldName(deploymentId, revisionId);
    this.#held.set(name, route);
    return (keepsServing) => {
      if (this.#held.get(name) === route) this.#held.delete(name);
      if (keepsServing) void route.drained().then(route.close);
      else route.close();
    };
  }

  /** The process that receives new requests. */
  live(deploymentId: string): Upstream | undefined {
    return this.#routes.get(deploymentId)?.upstream;
  }

  /** Since when nobody has used the live agent (ms, `steadyNow`); undefined while somebody does. */
  idleSince(deploymentId: string): number | undefined {
    return this.#routes.get(deploymentId)?.idleSince();
  }

  /** The processes that serve, with the ids of their deployments. */
  allLive(): [string, Upstream][] {
    return [...this.#routes].map(([id, { upstream }]) => [id, upstream]);
  }

  #open(upstream: Upstream): OpenRoute {
    const { clock, log, answerWithinMs = 600_000 } = this.#dependencies;
    return openRoute(upstream, { clock, log, answerWithinMs });
  }

  async #admit(
    deploymentId: string,
    method: string,
    headers: IncomingHttpHeaders,
    at: number,
  ): Promise<Admission | 'unchecked'> {
    const header = (name: string): string | undefined => {
      const value = headers[name.toLowerCase()];
      return Array.isArray(value) ? value.join(', ') : value;
    };
    try {
      return await this.#dependencies.authorize(deploymentId, header, method, at);
    } catch (error) {
      this.#dependencies.log.error(`A key could not be checked: ${messageOf(error)}`);
      return 'unchecked';
    }
  }

  async #respond(
    { deploymentId, revisionId, path }: AgentPath,
    request: IncomingMessage,
    response: ServerResponse,
    basePath: string,
    upgrade: UpgradeRequest | undefined,
  ): Promise<void> {
    const { agentsUrl, publicUrl, clock, count, isStarting, idle } = this.#dependencies;
    // Otherwise the agent, and its log, would get the key.
    if (holdsApiKey(path)) return sendGatewayError(response, gatewayErrors.keyInPath);
    const name = revisionId === undefined ? deploymentId : heldName(deploymentId, revisionId);
    const findRoute = (): OpenRoute | undefined => (revisionId === undefined ? this.#routes : this.#held).get(name);
    // A page that polls must not keep an agent from being idle.
    const isInBackground = request.headers[backgroundHeader] !== undefined;
    const isScaledToZero = (): boolean => revisionId === undefined && idle?.().isScaledToZero(deploymentId) === true;
    const consoleOrigin = consoleOriginOf(request.headers, { agentsUrl, publicUrl });
    if (isPreflight(request) && requestsAgentAccess(request)) {
      return consoleOrigin === undefined
        ? sendGatewayError(response, gatewayErrors.notOfConsole)
        : allowAgentAccess(request, response);
    }
    if (request.headers[agentAccessHeader] !== undefined && consoleOrigin === undefined) {
      return sendGatewayError(response, gatewayErrors.notOfConsole);
    }
    const isOpenToAll = isPreflight(request) || isUiFile(request, path);
    if (isOpenToAll && isScaledToZero()) await idle?.().wakeAgent(deploymentId);
    const currentRoute = findRoute();
    if (currentRoute && isPreflight(request)) return currentRoute.sendPreflight(request, response, path);
    if (currentRoute && isUiFile(request, path)) {
      if (!hasUiDestination(request)) return sendGatewayError(response, gatewayErrors.notAPage);
      return currentRoute.sendUiFile(request, response, path);
    }
    const { method = '' } = request;
    // A copy, because the caller's credentials are removed before the agent gets the request.
    const sentHeaders = { ...request.headers };
    const beganAt = clock.now();
    const admission = await this.#admit(deploymentId, method, sentHeaders, beganAt);
    // The caller has disconnected: without a close event, the request would count as in flight forever.
    if (response.destroyed) return;
    if (!isAdmission(admission)) {
      return sendGatewayError(response, typeof admission === 'string' ? gatewayErrors[admission] : admission);
    }
    const bySession = admission === 'session';
    const audience = bySession ? 'session' : isFromBrowser(sentHeaders) ? 'page' : 'client';
    // Don't count requests of sessions: the console polls while a page is open.
    const record = (bySession || revisionId !== undefined ? undefined : count?.(deploymentId)) ?? noRecord;
    if (isScaledToZero() && !isInBackground) {
      await idle?.().wakeAgent(deploymentId);
      if (response.destroyed) return;
    }
    const route = findRoute();
    if (!route && revisionId !== undefined) return sendGatewayError(response, gatewayErrors.notHeld);
    if (!route) {
      if (isScaledToZero()) return sendGatewayError(response, gatewayErrors.scaledToZero);
      record.failed();
      return sendGatewayError(response, isStarting?.(deploymentId) ? gatewayErrors.starting : gatewayErrors.notLive);
    }
    const stream = upgrade?.connection ?? response;
    const isStillAdmitted = async (): Promise<boolean> => {
      // A WebSocket has ended since the last check.
      if (stream.destroyed) return false;
      // In the background: otherwise an open stream would keep its session alive.
      const admissionNow = await this.#admit(
        deploymentId,
        method,
        { ...sentHeaders, [backgroundHeader]: 'true' },
        beganAt,
      );
      return admissionNow === 'unchecked' || isAdmission(admissionNow);
    };
    const stopWatching = this.#watch(isStillAdmitted, () => stream.destroy());
    // Agents get the console's address as their public one, because API keys work there too.
    const reachedUrl = publicUrl ?? (consoleOrigin === undefined ? undefined : `${consoleOrigin}${basePath}`);
    setPublicAddress(request.headers, { publicUrl: reachedUrl, basePath }, `/agents/${name}`);
    await route.send(request, response, path, { record, upgrade, audience, isInBackground });
    if (!upgrade) stopWatching();
  }
}

const isAdmission = (admission: Admission | 'unchecked'): admission is 'allowed' | 'session' =>
  admission === 'allowed' || admission === 'session';

const heldName = (deploymentId: string, revisionId: string): string => `${deploymentId}@${revisionId}`;

interface AgentPath {
  deploymentId: string;
  /** Present where the address is that of a held revision. */
  revisionId?: string;
  /** The rest after `/agents/<deployment id>`, with the query. */
  path: string;
}

/** Parses the target of a request; undefined where it is not for an agent. Resolves dot segments before it reads the id. */
export function readAgentPath(target: string): AgentPath | undefined {
  if (!URL.canParse(target, 'http://service')) return undefined;
  const { pathname, search } = new URL(target, 'http://service');
  const match = /^\/agents\/([^/]+)(\/.*)?$/.exec(pathname);
  const [deploymentId = '', revisionId] = (match?.[1] ?? '').toLowerCase().split(/@|%40/);
  if (!match || deploymentId === '') return undefined;
  const path = `${match[2] ?? '/'}${search}`;
  return revisionId === undefined ? { deploymentId, path } : { deploymentId, revisionId, path };
}
