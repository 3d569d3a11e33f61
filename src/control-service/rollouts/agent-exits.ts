import type { AgentSpec } from '../compute/compute.ts';
import type { ControlStore } from '../store/store.ts';
import type { Retrying } from './retry-policy.ts';
import { backoffMs } from '../../clock.ts';
import { codeOf, messageOf } from '../../errors.ts';

export interface Breakdown {
  /** For a person, without a full stop: `exit code 7`. */
  how: string;
  /** The last lines of its output, masked. */
  said: readonly string[];
}

/** Handles the exits and restarts of supervised agents. */
export interface AgentExitHandlers {
  /** Resolves when a restart can work: not while the database is unavailable. */
  ready(spec: AgentSpec): Promise<void>;
  /** It failed, `times` in a row, and is restarted. Returns at once. */
  brokeDown(spec: AgentSpec, times: number, breakdown: Breakdown): void;
  /** It has served for a while. Returns at once. */
  isWell(spec: AgentSpec): void;
  /** It failed, `times` in a row, and is not restarted. Returns at once. */
  givenUp(spec: AgentSpec, times: number, breakdown: Breakdown): void;
}

/** The `status_message` of a live revision whose agent was restarted. */
export const restartedMessage = (times: number, { how }: Breakdown): string =>
  `Restarted ${times} ${times === 1 ? 'time' : 'times'}, last: ${how}.`;

/** The `status_message` of a revision whose agent is not restarted any more. */
export const givenUpMessage = (times: number, { how, said }: Breakdown): string =>
  [
    `The agent broke down ${times} times in a row and is not started again, last: ${how}. Deploy a revision that stays up, or redeploy one.`,
    ...(said.length === 0 ? [] : ['Its log ended:', ...said]),
  ].join('\n');

export interface AgentExitSettings {
  store: Pick<ControlStore, 'deployment' | 'noteLive' | 'giveUp'>;
  retrying: Retrying;
  inBackground: (what: string, work: () => Promise<void>) => void;
}

/** Records exits and restarts at the revisions, one after the other. */
export function agentExitHandlers({ store, retrying, inBackground }: AgentExitSettings): AgentExitHandlers {
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
    async ready({ deploymentId }) {
      await retrying(() => store.deployment(deploymentId));
    },
    brokeDown({ revisionId }, times, breakdown) {
      const message = restartedMessage(times, breakdown);
      write('Recording a restart', () => store.noteLive(revisionId, message));
    },
    isWell({ revisionId }) {
      write('Recording that an agent is well', () => store.noteLive(revisionId, null));
    },
    givenUp({ deploymentId, revisionId }, times, breakdown) {
      const message = givenUpMessage(times, breakdown);
      write('Giving an agent up', () => store.giveUp(deploymentId, revisionId, message));
    },
  };
}

/** The time (ms) after which an agent counts as well: its next failure is the first again. */
export const wellAfter = 60_000;

/**
 * The failures in a row, without `wellAfter` between them, that make a crash loop: with the backoff this takes at least
 * three minutes.
 */
export const mostBreakdowns = 10;

const shortest = 500;
const longest = 60_000;

export const restartDelay = (breakdowns: number): number => backoffMs(breakdowns, shortest, longest);

/** Codes of a full disk: of the operating system, and of Postgres. */
const fullDisk = new Set(['ENOSPC', 'EDQUOT', '53100']);

/**
 * The message for a tenant about an unforeseen error. Messages of the operating system and of Postgres name paths and
 * statements of this service, which belong in its own log only.
 */
export function tenantErrorMessage(error: unknown): string {
  const code = nestedCodeOf(error);
  if (fullDisk.has(code)) {
    return 'The disk of this service is full. Try again when its operator has made room.';
  }
  if (code !== '') return `An error of its machine or database (${code}). The log of the service says more.`;
  return messageOf(error).replace(absolutePath, 'a file of the service');
}

const absolutePath = /(?<![\w.:/-])\/[^\s'"`(),;]+/g;

/** The code of an error or of its causes, down to a fixed depth. */
function nestedCodeOf(error: unknown, left = 8): string {
  if (!(error instanceof Error) || left === 0) return '';
  return codeOf(error) || nestedCodeOf(error.cause, left - 1);
}
