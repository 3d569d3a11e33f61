import type { Clock } from '../../../kit/clock.ts';
import type { AgentSpec, Compute, RunningAgent } from '../compute/compute.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { AgentExitHandlers, AgentFailure } from './agent-exits.ts';

/** The result of checking a build: `whole` was intact; `broken` could not be repaired, for a reason that people read. */
export type Repair = { kind: 'whole' | 'repaired' } | { kind: 'broken'; reason: string };

export interface LiveAgentsDependencies {
  compute: Compute;
  gateway: Pick<Gateway, 'switchTo' | 'withdraw' | 'live'>;
  clock: Clock;
  /** How long requests in flight may take on an agent that is replaced (ms). */
  drainMs: number;
  repair?: (spec: AgentSpec, signal: AbortSignal) => Promise<Repair>;
  exitHandlers?: AgentExitHandlers;
}

/** How an agent ended, and whether it had served for `stableAfterMs` before. */
export interface AgentExit extends AgentFailure {
  wasStable: boolean;
}

export interface SupervisedAgent {
  spec: AgentSpec;
  /** It was live before this service started, so its record may still show an old failure. */
  wasLive: boolean;
  /** Aborts when the agent is to be stopped: it is not restarted any more. */
  retirement: AbortController;
  agent: RunningAgent | undefined;
  /** Aborts when the agent that serves is to be stopped until a request needs it. */
  scaleDown: AbortController;
  /** Present while it is scaled to zero, from the decision until it serves again or its start has failed. */
  zero: ScaledToZero | undefined;
  /** Whether its build was repaired since the agent was last stable. Only once: an agent can damage its own build. */
  repaired: boolean;
  /** Resolves when the supervision has ended. */
  supervision: Promise<void>;
}

interface ScaledToZero {
  /** Resolves when the agent is needed. */
  woken: PromiseWithResolvers<void>;
  /** Resolves when it serves, or could not be started. */
  started: PromiseWithResolvers<void>;
}

export interface DrainingAgent {
  deploymentId: string;
  /** Aborts when requests in flight must be cut off. */
  cutOff: AbortController;
  retired: Promise<void>;
}

/** The reason is either a phrase about the process or a whole sentence of the compute. */
export const asSentence = (reason: string): string =>
  /^[A-Z]/.test(reason) ? `${reason}.` : `The agent's process ended: ${reason}.`;
