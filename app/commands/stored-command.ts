import type { PromotedFrom } from '../reconcile/deploy-request.ts';
import type { CommentCommand } from '../../src/deploy/commands/answer.ts';
import type { CommandOutcome } from '../../src/deploy/commands/outcomes.ts';

interface OfDeployment {
  deploymentId: string;
  /** Its name. */
  deployment: string;
}

/** What a command is to change, with all that it is about: it is stored before it is sent, and stays the same then. */
export type CommandAction =
  | ({ kind: 'deploy'; commit: string; branch: string; isOfPull: boolean; ignoresFreeze?: true } & OfDeployment)
  | ({ kind: 'roll-back'; revisionId: string; commit: string } & OfDeployment)
  | ({ kind: 'test'; revisionId: string; commit: string; tests: number } & OfDeployment)
  /** The held revision. */
  | ({ kind: 'promote'; revisionId: string } & OfDeployment)
  /** The request of this commit, an intent with this id, waits for a reviewer of its environment. */
  | ({ kind: 'approve'; commit: string; intent: string } & OfDeployment)
  /** What the environment before serves and has proven. */
  | ({ kind: 'request-promotion'; commit: string; from: PromotedFrom; ignoresFreeze?: true } & OfDeployment)
  /** The ids of the intents that were open when it was taken. */
  | ({ kind: 'cancel'; intents: readonly string[] } & OfDeployment)
  | { kind: 'preview'; commit: string; isFork: boolean };

/** Which command: one for each comment. */
export interface CommandKey {
  repositoryId: number;
  commentId: number;
}

/** What makes the cause of a comment's request one. */
export const causeKey = (commentId: number): string => `comment-${commentId}`;

/** A command that was taken. */
export interface TakenCommand extends CommandKey, Omit<CommentCommand, 'outcome'> {
  /** The number of the pull request. */
  number: number;
}

/** A command as it is stored. */
export interface StoredCommand extends TakenCommand {
  action?: CommandAction;
  outcome?: CommandOutcome;
}

/** The store of commands. What was stored first counts, whoever stores it. */
export interface CommandStore {
  /** Records a command, unless it is known, and returns it as it is stored. */
  takeCommand(command: TakenCommand): Promise<StoredCommand>;
  /** Stores what a command is to change. @returns the action that is stored. */
  decideCommand(key: CommandKey, action: CommandAction): Promise<CommandAction>;
  /** Stores how a command ended. @returns the outcome that is stored. */
  endCommand(key: CommandKey, outcome: CommandOutcome): Promise<CommandOutcome>;
  /**
   * The newest commands on a pull request that have ended, newest first. Those of people who may give none are left
   * out, so that they push out no others.
   */
  lastCommands(repositoryId: number, number: number, limit: number): Promise<StoredCommand[]>;
}
