import type { AgentSpec } from '../compute/compute.ts';
import type { ControlStore } from '../store/store.ts';
import type { Retry } from './retry-policy.ts';
import { backoffMs } from '../../../kit/clock.ts';
import { codeOf, messageOf } from '../../../kit/errors.ts';

export interface AgentFailure {
  /** A phrase for people, without a full stop: `exit code 7`. */
  reason: string;
  /** The last lines of its output, masked. */
  lastLines: readonly string[];
}

/** The `status_message` of a live revision whose agent was restarted. */
export const restartedMessage = (times: number, { reason }: AgentFailure): string =>
  `Restarted ${times} ${times === 1 ? 'time' : 'times'}, last: ${reason}.`;

/** The `status_message` of a revision whose agent is not restarted any more. */
export const givenUpMessage = (times: number, { reason, lastLines }: AgentFailure): string =>
  [
    `The agent broke down ${times} times in a row and is not started again, last: ${reason}. Deploy a revision that stays up, or redeploy one.`,
    ...(lastLines.length === 0 ? [] : ['Its log ended:', ...lastLines]),
  ].join('\n');

interface AgentExitDependencies {
  store: ControlStore;
  retry: Retry;
  inBackground: (what: string, work: () => Promise<void>) => void;
}

/** Creates handlers that record the exits and restarts of supervised agents in their revisions, in order. */
export function agentExitHandlers({ store, retry, inBackground }: AgentExitDependencies) {
  let lastWrite = Promise.resolve();
  const write = (what: string, work: () => Promise<unknown>): void => {
    const before = lastWrite;
    const after = Promise.withResolvers<void>();
    lastWrite = after.promise;
    inBackground(what, async () => {
      await before;
      await retry(work).finally(after.resolve);
    });
  };
  return {
    /** Resolves once the database is available: no agent can start without it. */
    async untilStartable({ deploymentId }: AgentSpec): Promise<void> {
      await retry(() => store.deployment(deploymentId));
    },
    /** The agent failed for the `times`-th time in a row, and will be restarted. */
    onBreakdown({ revisionId }: AgentSpec, times: number, breakdown: AgentFailure): void {
      const message = restartedMessage(times, breakdown);
      write('Recording a restart', () => store.noteLive(revisionId, message));
    },
    onStable({ revisionId }: AgentSpec): void {
      write('Recording that an agent is well', () => store.noteLive(revisionId, null));
    },
    /** The agent failed for the `times`-th time in a row, and will not be restarted. */
    onGiveUp({ deploymentId, revisionId }: AgentSpec, times: number, breakdown: AgentFailure): void {
      const message = givenUpMessage(times, breakdown);
      write('Giving an agent up', () => store.giveUp(deploymentId, revisionId, message));
    },
  };
}
export type AgentExitHandlers = ReturnType<typeof agentExitHandlers>;

/** How long (ms) an agent serves until it counts as stable: its next failure is then the first in a row. */
export const stableAfterMs = 60_000;

/** The failures in a row that make a crash loop: with the backoff this takes at least three minutes. */
export const maxBreakdowns = 10;

export const restartDelay = (breakdowns: number): number => backoffMs(breakdowns, 500, 60_000);

/** The error codes of the operating system and of Postgres for a full disk. */
const fullDisk = new Set(['ENOSPC', 'EDQUOT', '53100']);

/** Words an unforeseen error for a tenant: paths and statements of this service belong in its own log only. */
export function tenantErrorMessage(error: unknown): string {
  const code = nestedCodeOf(error);
  if (fullDisk.has(code)) return 'The disk of this service is full. Try again when its operator has made room.';
  if (code !== '') return `An error of its machine or database (${code}). The log of the service says more.`;
  return messageOf(error).replace(absolutePath, 'a file of the service');
}

const absolutePath = /(?<![\w.:/-])\/[^\s'"`(),;]+/g;

/** The code of an error or of one of its causes, at most `depth` causes down. */
function nestedCodeOf(error: unknown, depth = 8): string {
  if (!(error instanceof Error) || depth === 0) return '';
  return codeOf(error) || nestedCodeOf(error.cause, depth - 1);
}
