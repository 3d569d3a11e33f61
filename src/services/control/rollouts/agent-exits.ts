import type { AgentSpec } from '../compute/compute.ts';
import type { ControlStore } from '../store/store.ts';
import type { Retrying } from './retry-policy.ts';
import { backoffMs } from '../../../kit/clock.ts';
import { codeOf, messageOf } from '../../../kit/errors.ts';

export interface AgentFailure {
  /** For a person, without a full stop: `exit code 7`. */
  how: string;
  /** The last lines of its output, masked. */
  said: readonly string[];
}

/** The `status_message` of a live revision whose agent was restarted. */
export const restartedMessage = (times: number, { how }: AgentFailure): string =>
  `Restarted ${times} ${times === 1 ? 'time' : 'times'}, last: ${how}.`;

/** The `status_message` of a revision whose agent is not restarted any more. */
export const givenUpMessage = (times: number, { how, said }: AgentFailure): string =>
  [
    `The agent broke down ${times} times in a row and is not started again, last: ${how}. Deploy a revision that stays up, or redeploy one.`,
    ...(said.length === 0 ? [] : ['Its log ended:', ...said]),
  ].join('\n');

interface AgentExitDependencies {
  store: ControlStore;
  retrying: Retrying;
  inBackground: (what: string, work: () => Promise<void>) => void;
}

/** Records the exits and restarts of supervised agents at the revisions, one after the other. */
export function agentExitHandlers({ store, retrying, inBackground }: AgentExitDependencies) {
  let written = Promise.resolve();
  const write = (what: string, work: () => Promise<unknown>): void => {
    const before = written;
    const after = Promise.withResolvers<void>();
    written = after.promise;
    inBackground(what, async () => {
      await before;
      await retrying(work).finally(after.resolve);
    });
  };
  return {
    /** Resolves when a restart can work: not while the database is unavailable. */
    async ready({ deploymentId }: AgentSpec): Promise<void> {
      await retrying(() => store.deployment(deploymentId));
    },
    /** It failed, `times` in a row, and is restarted. */
    brokeDown({ revisionId }: AgentSpec, times: number, breakdown: AgentFailure): void {
      const message = restartedMessage(times, breakdown);
      write('Recording a restart', () => store.noteLive(revisionId, message));
    },
    isWell({ revisionId }: AgentSpec): void {
      write('Recording that an agent is well', () => store.noteLive(revisionId, null));
    },
    /** It failed, `times` in a row, and is not restarted. */
    givenUp({ deploymentId, revisionId }: AgentSpec, times: number, breakdown: AgentFailure): void {
      const message = givenUpMessage(times, breakdown);
      write('Giving an agent up', () => store.giveUp(deploymentId, revisionId, message));
    },
  };
}
export type AgentExitHandlers = ReturnType<typeof agentExitHandlers>;

/** The time (ms) after which an agent counts as well: its next failure is the first again. */
export const healthyAfterMs = 60_000;

/** The failures in a row that make a crash loop: with the backoff this takes at least three minutes. */
export const maxBreakdowns = 10;

export const restartDelay = (breakdowns: number): number => backoffMs(breakdowns, 500, 60_000);

/** Codes of a full disk: of the operating system, and of Postgres. */
const fullDisk = new Set(['ENOSPC', 'EDQUOT', '53100']);

/** A tenant's message about an unforeseen error: paths and statements of this service belong in its own log only. */
export function tenantErrorMessage(error: unknown): string {
  const code = nestedCodeOf(error);
  if (fullDisk.has(code)) return 'The disk of this service is full. Try again when its operator has made room.';
  if (code !== '') return `An error of its machine or database (${code}). The log of the service says more.`;
  return messageOf(error).replace(absolutePath, 'a file of the service');
}

const absolutePath = /(?<![\w.:/-])\/[^\s'"`(),;]+/g;

/** The code of an error or of its causes, down to a fixed depth. */
function nestedCodeOf(error: unknown, left = 8): string {
  if (!(error instanceof Error) || left === 0) return '';
  return codeOf(error) || nestedCodeOf(error.cause, left - 1);
}
