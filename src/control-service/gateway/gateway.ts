import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../clock.ts';
import { holdsApiKey } from '../keys/api-key.ts';
import { readAgentPath, type AgentPath } from './agent-path.ts';
import { setPublicAddress } from './headers.ts';
import { openRoute, type AgentRoute, type OpenRoute, type Upstream } from './agent-route.ts';
import { isPreflight } from './preflight.ts';
import { refusals, refuse, type Refusal } from './refusal.ts';

/** Whether a caller may talk to a deployment's agent, or why not; `missing` also for one that is somebody else's. */
export type Admission = 'allowed' | 'missing' | (Pick<Refusal, 'detail'> & { status: 401 | 403 });

export interface GatewaySettings {
  /**
   * Asked for every request on every path, `/ok` too (agent-server.md, Authentication), but for a browser's preflight
   * to an agent that is live. Anything but `allowed` is refused. `header` reads one of the request's headers.
   */
  authorize: (deploymentId: string, header: (name: string) => string | undefined) => Promise<Admission>;
  /** Where others reach the service, and what agents are told of their address; as callers name it when absent. */
  publicUrl?: string | undefined;
  /** Whether a deployment with nothing live has an agent that is being started; none has when absent. */
  isStarting?: (deploymentId: string) => boolean;
  clock: Clock;
  log: (message: string) => void;
  /** Milliseconds until an agent has to begin its answer; ten minutes when absent. */
  answerWithinMs?: number;
}

/** Where the agents of all deployments answer: `/agents/<deployment id>/...`, whichever process runs them. */
export interface Gateway {
  /**
   * Takes a request that is for an agent and answers it; `false` leaves it to the service's own routes. `basePath` is
   * what was taken away from the beginning of its path; nothing when absent.
   */
  handle: (request: IncomingMessage, response: ServerResponse, basePath?: string) => boolean;
  /**
   * From this call on new requests go to the new process. What is in flight stays where it is: the former lane is
   * returned, to be drained and closed by the caller.
   */
  switchTo(deploymentId: string, upstream: Upstream): AgentRoute | undefined;
  /** From this call on new requests are told that nothing is live. Returns the former lane. */
  withdraw(deploymentId: string): AgentRoute | undefined;
  /** The process that new requests go to. */
  live(deploymentId: string): Upstream | undefined;
}

const tenMinutes = 600_000;

/** Makes a gateway with nothing live. */
export function createGateway(settings: GatewaySettings): Gateway {
  const { authorize, isStarting, publicUrl, clock, log, answerWithinMs = tenMinutes } = settings;
  const routes = new Map<string, OpenRoute>();

  async function admit(deploymentId: string, request: IncomingMessage): Promise<Admission | 'unchecked'> {
    const header = (name: string): string | undefined => {
      const value = request.headers[name.toLowerCase()];
      return Array.isArray(value) ? value.join(', ') : value;
    };
    try {
      return await authorize(deploymentId, header);
    } catch (error) {
      log(`A key could not be checked: ${error instanceof Error ? error.message : String(error)}`);
      return 'unchecked';
    }
  }

  async function answer(
    { deploymentId, path }: AgentPath,
    request: IncomingMessage,
    response: ServerResponse,
    basePath: string,
  ): Promise<void> {
    // An agent, and its log, would have the key.
    if (holdsApiKey(path)) return refuse(response, refusals.keyInPath);
    const requested = isPreflight(request) ? routes.get(deploymentId) : undefined;
    if (requested) return requested.sendPreflight(request, response, path);
    const admission = await admit(deploymentId, request);
    // A caller that went away meanwhile closes nothing any more: on a lane it would count as in flight for ever.
    if (response.destroyed) return;
    if (admission !== 'allowed') {
      return refuse(response, typeof admission === 'string' ? refusals[admission] : admission);
    }
    const route = routes.get(deploymentId);
    if (!route) return refuse(response, isStarting?.(deploymentId) ? refusals.starting : refusals.notLive);
    setPublicAddress(request.headers, { publicUrl, basePath }, `/agents/${deploymentId}`);
    await route.send(request, response, path);
  }

  return {
    handle(request, response, basePath = '') {
      const target = readAgentPath(request.url ?? '/');
      if (!target) return false;
      answer(target, request, response, basePath).catch((error: unknown) => {
        log(`A request to an agent failed: ${error instanceof Error ? error.message : String(error)}`);
        refuse(response, refusals.broken);
      });
      return true;
    },
    switchTo(deploymentId, upstream) {
      const former = routes.get(deploymentId);
      routes.set(deploymentId, openRoute(upstream, { clock, log, answerWithinMs }));
      return former;
    },
    withdraw(deploymentId) {
      const former = routes.get(deploymentId);
      routes.delete(deploymentId);
      return former;
    },
    live: (deploymentId) => routes.get(deploymentId)?.upstream,
  };
}
