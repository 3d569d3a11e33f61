import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../../../kit/errors.ts';
import type { Clock } from '../../../kit/clock.ts';
import { agentAccessHeader, backgroundHeader } from '../../../contract/control/session.ts';
import { admissionWatch } from '../api-keys/admission-watch.ts';
import { holdsApiKey } from '../api-keys/api-key.ts';
import { setPublicAddress } from './headers.ts';
import { isOfBrowser } from './response-headers.ts';
import { openRoute, type AgentRoute, type OpenRoute, type UpgradeRequest } from './agent-route.ts';
import type { Upstream } from './request-agent.ts';
import { noRecord, type RequestRecord } from './pass-on.ts';
import { consoleOriginOf } from './agents-origin.ts';
import { allowAccess, isPreflight, namesAccess } from './preflight.ts';
import { isUiFile, isUseOfUiFile } from './ui-file.ts';
import { gatewayErrors, sendGatewayError, type GatewayError } from './gateway-error.ts';
import type { Logger } from '../../../kit/logger.ts';

/** Whether a caller may reach an agent: `session` is a browser's, `missing` also another tenant's deployment. */
export type Admission = 'allowed' | 'session' | 'missing' | (Pick<GatewayError, 'detail'> & { status: 401 | 403 });

interface GatewayDependencies {
  /**
   * Called for every request on every path (docs/design/agent-access.md), except preflights and files of a UI, of a
   * live agent; and again every 15 s while a response lasts, then as a request of a page in the background. `header`
   * reads one of the request's headers; `at` is when the request began.
   */
  authorize: (
    deploymentId: string,
    header: (name: string) => string | undefined,
    method: string,
    at: number,
  ) => Promise<Admission>;
  /** Counts an admitted request of a deployment, except those of sessions. Called for each, so it must be cheap. */
  count?: (deploymentId: string) => RequestRecord;
  /** The service's public address, which agents get as their own; the address that callers use when absent. */
  publicUrl?: string | undefined;
  agentsUrl?: string | undefined;
  /** Whether a deployment with nothing live has a starting agent. Called for each request for one. */
  isStarting?: (deploymentId: string) => boolean;
  clock: Clock;
  log: Logger;
  /** The timeout of a response's start (ms). */
  answerWithinMs?: number;
}

/** Serves the addresses of all agents: `/agents/<deployment id>/...`, whichever process runs them. */
export class Gateway {
  readonly #by: GatewayDependencies;
  readonly #routes = new Map<string, OpenRoute>();
  /** The routes to held revisions, by `<deployment id>@<revision id>`. */
  readonly #held = new Map<string, OpenRoute>();
  readonly #watch: ReturnType<typeof admissionWatch>;

  constructor(by: GatewayDependencies) {
    this.#by = by;
    this.#watch = admissionWatch(by.clock);
  }

  /**
   * Handles a request for an agent, else returns false. `basePath` is the prefix that was removed from its path;
   * `upgrade` is given where it asks for a WebSocket.
   */
  readonly handle = (
    request: IncomingMessage,
    response: ServerResponse,
    basePath = '',
    upgrade?: UpgradeRequest,
  ): boolean => {
    const target = readAgentPath(request.url ?? '/');
    if (!target) return false;
    this.#answer(target, request, response, basePath, upgrade).catch((error: unknown) => {
      this.#by.log.error(`A request to an agent failed: ${messageOf(error)}`);
      sendGatewayError(response, gatewayErrors.broken);
    });
    return true;
  };

  /** Sends new requests to the new process from now on. Returns the former route, for the caller to drain and close. */
  switchTo(deploymentId: string, upstream: Upstream): AgentRoute | undefined {
    const former = this.#routes.get(deploymentId);
    this.#routes.set(deploymentId, this.#open(upstream));
    return former;
  }

  /** Answers new requests with "nothing is live" from now on. Returns the former route. */
  withdraw(deploymentId: string): AgentRoute | undefined {
    const former = this.#routes.get(deploymentId);
    this.#routes.delete(deploymentId);
    return former;
  }

  /** Serves a held revision at its own address. Returns the end of that: requests in flight are cut unless `goesOn`. */
  hold(deploymentId: string, revisionId: string, upstream: Upstream): (goesOn: boolean) => void {
    const route = this.#open(upstream);
    const name = heldName(deploymentId, revisionId);
    this.#held.set(name, route);
    return (goesOn) => {
      if (this.#held.get(name) === route) this.#held.delete(name);
      if (goesOn) void route.drained().then(route.close);
      else route.close();
    };
  }

  /** The process that new requests go to. */
  live(deploymentId: string): Upstream | undefined {
    return this.#routes.get(deploymentId)?.upstream;
  }

  /** The processes that serve, with the ids of their deployments. */
  allLive(): [string, Upstream][] {
    return [...this.#routes].map(([id, { upstream }]) => [id, upstream]);
  }

  #open(upstream: Upstream): OpenRoute {
    const { clock, log, answerWithinMs = 600_000 } = this.#by;
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
      return await this.#by.authorize(deploymentId, header, method, at);
    } catch (error) {
      this.#by.log.error(`A key could not be checked: ${messageOf(error)}`);
      return 'unchecked';
    }
  }

  async #answer(
    { deploymentId, revisionId, path }: AgentPath,
    request: IncomingMessage,
    response: ServerResponse,
    basePath: string,
    upgrade: UpgradeRequest | undefined,
  ): Promise<void> {
    const { agentsUrl, publicUrl, clock, count, isStarting } = this.#by;
    // Otherwise the agent, and its log, would get the key.
    if (holdsApiKey(path)) return sendGatewayError(response, gatewayErrors.keyInPath);
    const name = revisionId === undefined ? deploymentId : heldName(deploymentId, revisionId);
    const find = (): OpenRoute | undefined => (revisionId === undefined ? this.#routes : this.#held).get(name);
    const live = find();
    const page = consoleOriginOf(request.headers, { agentsUrl, publicUrl });
    if (isPreflight(request) && namesAccess(request)) {
      return page === undefined
        ? sendGatewayError(response, gatewayErrors.notOfConsole)
        : allowAccess(request, response);
    }
    if (request.headers[agentAccessHeader] !== undefined && page === undefined) {
      return sendGatewayError(response, gatewayErrors.notOfConsole);
    }
    if (live && isPreflight(request)) return live.sendPreflight(request, response, path);
    if (live && isUiFile(request, path)) {
      if (!isUseOfUiFile(request)) return sendGatewayError(response, gatewayErrors.notAPage);
      return live.sendUiFile(request, response, path);
    }
    const { method = '' } = request;
    // A copy: what admits the caller is removed before the agent gets the request.
    const sent = { ...request.headers };
    const at = clock.now();
    const admission = await this.#admit(deploymentId, method, sent, at);
    // The caller has disconnected: no close event would follow, so the request would count as in flight for ever.
    if (response.destroyed) return;
    if (!isAdmission(admission)) {
      return sendGatewayError(response, typeof admission === 'string' ? gatewayErrors[admission] : admission);
    }
    const bySession = admission === 'session';
    const audience = bySession ? 'session' : isOfBrowser(sent) ? 'page' : 'client';
    // Most of them are the console's own, which reads an open page again and again.
    const record = (bySession || revisionId !== undefined ? undefined : count?.(deploymentId)) ?? noRecord;
    const route = find();
    if (!route && revisionId !== undefined) return sendGatewayError(response, gatewayErrors.notHeld);
    if (!route) {
      record.failed();
      return sendGatewayError(response, isStarting?.(deploymentId) ? gatewayErrors.starting : gatewayErrors.notLive);
    }
    const stream = upgrade?.connection ?? response;
    const isStillAdmitted = async (): Promise<boolean> => {
      // A WebSocket that has ended: it is watched until the next check.
      if (stream.destroyed) return false;
      // Else an open stream would keep its session alive.
      const again = await this.#admit(deploymentId, method, { ...sent, [backgroundHeader]: 'true' }, at);
      return again === 'unchecked' || isAdmission(again);
    };
    const stopWatching = this.#watch(isStillAdmitted, () => stream.destroy());
    // The agent's address is that of the console, which works for keys too.
    const reached = publicUrl ?? (page === undefined ? undefined : `${page}${basePath}`);
    setPublicAddress(request.headers, { publicUrl: reached, basePath }, `/agents/${name}`);
    await route.send(request, response, path, { record, upgrade, audience });
    if (!upgrade) stopWatching();
  }
}

const isAdmission = (admission: Admission | 'unchecked'): admission is 'allowed' | 'session' =>
  admission === 'allowed' || admission === 'session';

const heldName = (deploymentId: string, revisionId: string): string => `${deploymentId}@${revisionId}`;

interface AgentPath {
  deploymentId: string;
  /** Where the address is that of a held revision. */
  revisionId?: string;
  /** With its query: the rest after `/agents/<deployment id>`. */
  path: string;
}

/** Parses the target of a request; `undefined` when it is no agent's. Resolves dot segments before the id is read. */
export function readAgentPath(target: string): AgentPath | undefined {
  if (!URL.canParse(target, 'http://service')) return undefined;
  const { pathname, search } = new URL(target, 'http://service');
  const found = /^\/agents\/([^/]+)(\/.*)?$/.exec(pathname);
  const [deploymentId = '', revisionId] = (found?.[1] ?? '').toLowerCase().split(/@|%40/);
  if (!found || deploymentId === '') return undefined;
  const path = `${found[2] ?? '/'}${search}`;
  return revisionId === undefined ? { deploymentId, path } : { deploymentId, revisionId, path };
}
