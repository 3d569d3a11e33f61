import type { Coded } from '../../kit/coded.ts';
import type { FrozenFacts } from '../rules/environment-gate.ts';
import type { ObstacleFacts } from '../rules/plan-types.ts';
import type { EarlierObstacleCode } from '../rules/trigger-types.ts';
import type { ParseProblems } from './parse.ts';

/** What a person may do in a repository; `none` for strangers. */
export type Permission = 'admin' | 'write' | 'read' | 'none';

/** Why there is nothing to go back to. */
export interface NoRollbackTarget {
  'nothing-live': unknown;
  /** Another revision serves than the one that was to be replaced. */
  'other-live': { revisionId: string };
  'none-live-before': { revisionId: string };
  'unlisted-revisions': unknown;
}

/** Why a workflow does not carry out a command. */
export interface WorkflowRefusals {
  /** What counts is what was written first, which no one sees any more. */
  edited: unknown;
  /** A run that one person starts again is not the command of another. */
  'rerun-by-other': { login: string; by: string };
  /** GitHub does not say what the person may do. */
  'rights-unread': { login: string };
  'no-file': { path: string };
  'file-wrong': { text: string };
  /** Nothing waits in a workflow. */
  'cancel-by-workflow': unknown;
  'fork-plan': unknown;
  'folder-preview': unknown;
  /** A folder is uploaded as it was checked out, and there was a push since. */
  'checkout-outdated': { branch: string; head: string };
  /** What it runs belongs to no commit. */
  'no-commit': { deployment: string };
  /** A run that was ended midway is started again, and is refused: what it had begun may be done. */
  'begun-before': { deployment: string };
}

/** Why a command is not carried out. Texts are other people's; they are escaped when they are shown. */
export interface CommandRefusals extends ParseProblems, WorkflowRefusals, Pick<ObstacleFacts, EarlierObstacleCode> {
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
  'nothing-live': { deployment: string };
  /** The deploy file names none, or only such that compare with the live revision. */
  'no-tests': { deployment: string };
  'too-many-tests': { tests: number; most: number };
  'nothing-to-cancel': { deployment: string };
  /** It was sent to the service. */
  'too-late': { deployment: string; commit: string };
  'nothing-held': { deployment: string };
  /** `from`: the deployment of the environment before, from which alone it gets commits. */
  'only-promoted': { deployment: string; from: string };
  /** It serves what the environment before has proven. */
  'promoted-already': { deployment: string; commit: string };
  /** Discarded, or replaced, before it could be promoted. */
  'hold-over': { deployment: string; revisionId: string };
  /** The revision that serves, or is held, is newer than the comment. */
  'changed-since': { deployment: string; revisionId: string };
  /** The revision does not say what it was built from, and the App did not make it. */
  'commit-unknown': { deployment: string; revisionId: string };
  /** The deploy file has a mistake and speaks of admins, so that it is unknown who they are. */
  'file-unread': { deployment: string };
  /** Its environment is frozen, and the command does not say that this does not count. */
  frozen: { deployment: string; command: 'deploy' | 'promote' } & FrozenFacts;
  /** It waits for an approval, and did not when the comment was written. */
  'requested-since': { deployment: string; commit: string };
  /** The commit does not wait for a reviewer of a GitHub environment. */
  'nothing-to-approve': { deployment: string; commit: string };
  'not-reviewer': { login: string; environment: string; names: readonly string[] };
  'own-review': { login: string; environment: string };
  /** The App may not know who is in the team. */
  'team-unread': { login: string; environment: string; team: string };
  'no-previews': unknown;
  'previews-unread': unknown;
  /** Previews are made with a label, which the pull request lacks. */
  'no-label': { label: string };
  /** The preview of a fork's commit is made only where the person names it. */
  'fork-commit': { head: string };
  'not-pull-head': { commit: string; head: string };
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
  'tests-requested': { deployment: string; revisionId: string; commit: string; tests: number };
  promoted: { deployment: string; revisionId: string };
  /** A reviewer of its environment lets a request pass. */
  approved: { deployment: string; commit: string };
  'promotion-requested': { deployment: string; commit: string; from: string };
  cancelled: { deployment: string; commits: readonly string[] };
  planned: { title: string };
  previewed: { commit: string; isFork: boolean };
  /** A run of the Action came to this end. */
  ran: { outcome: string; reason: string; advice?: string; passes: boolean };
}

export type CommandRefusal = Coded<CommandRefusals>;
export type CommandResult = Coded<CommandResults>;

/** How a command ended: with what it did, or why it did nothing. */
export type CommandOutcome =
  | ({ kind: 'done'; /** Escaped Markdown below the sentence. */ details?: string } & CommandResult)
  | ({ kind: 'refused' } & CommandRefusal);

export const refused = (refusal: CommandRefusal): CommandOutcome => ({ kind: 'refused', ...refusal });
