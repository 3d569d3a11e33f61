import type { Coded } from '../../src/kit/coded.ts';
import type { Permission } from '../github/github-api.ts';
import type { NoRollbackTarget } from '../targets/rollback-target.ts';
import type { ParseProblems } from './parse.ts';

/** Why a command is not carried out. Texts are other people's; they are escaped when they are shown. */
export interface CommandRefusals extends ParseProblems {
  /** Acting takes write access to the repository, at the moment of use. */
  'no-write': { login: string; permission: Permission };
  /** The deploy file names who may act on its production deployments. */
  'not-admin': { login: string; deployment: string };
  locked: unknown;
  'not-open': unknown;
  'closed-unmerged': unknown;
  /** It was written long before it arrived. */
  late: { minutes: number };
  'no-deployment': { branches: readonly string[] };
  'unknown-deployment': { written: string; meant: string | undefined; names: readonly string[] };
  'several-deployments': { names: readonly string[] };
  /** The repository may not act on it, or pushes do not build it. */
  'deployment-refused': { deployment: string; why: string };
  'branch-gone': { branch: string };
  'not-head': { commit: string; head: string; branch: string };
  /** The service refuses, which further attempts do not change. */
  'service-error': { text: string };
  'no-rollback': { deployment: string; why: Coded<NoRollbackTarget> };
}

/** What a command did. */
export interface CommandResults {
  helped: unknown;
  'status-shown': unknown;
  /** `branch`: what is built; `isOfPull`: it is the branch of the pull request itself. */
  deployed: { deployment: string; commit: string; branch: string; isOfPull: boolean };
  'rolled-back': { deployment: string; revisionId: string; commit: string };
}

export type CommandRefusal = Coded<CommandRefusals>;
export type CommandResult = Coded<CommandResults>;

/** How a command ended: with what it did, or why it did nothing. */
export type CommandOutcome =
  | ({ kind: 'done'; /** Escaped Markdown below the sentence. */ details?: string } & CommandResult)
  | ({ kind: 'refused' } & CommandRefusal);

export const refused = (refusal: CommandRefusal): CommandOutcome => ({ kind: 'refused', ...refusal });
