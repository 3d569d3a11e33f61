import { isTransient, ServiceError } from '../../src/contract/service-error.ts';
import type { AppContext } from '../context.ts';
import type { DecisionOf, GivenCommand, Handler } from '../events/event-types.ts';
import { GitHubApiError, InstallationPaused, type Reaction } from '../github/github-api.ts';
import { putComment } from '../pull-requests/comment.ts';
import { answerTo, logWords, maxEarlier } from './answer.ts';
import { candidatesOf } from './candidates.ts';
import {
  chooseDeployment,
  chooseDeployments,
  refusalOfCommand,
  refusalOfPerson,
  refusalOfProduction,
} from './decide.ts';
import { commands, type CommandName } from './definitions.ts';
import { refused, type CommandOutcome } from './outcomes.ts';
import { deploy, rollBack, type Performance } from './perform.ts';
import { statusOf } from './status.ts';
import type { StoredCommand } from './stored-command.ts';
import { commandTable } from './words.ts';

/**
 * Handles a command: reacts at once, checks who gave it, carries it out, and answers in the comment of the App. It may
 * run again for the same comment at any time: what was decided and done first stays.
 */
export const onCommand: Handler<'command'> = async (given, { context }) => {
  const { repository, number, commentId, parsed, by } = given;
  const { store, log } = context;
  await react(context, given, 'eyes');
  const { repositoryId } = repository;
  const taken = { repositoryId, commentId, number, by: by.login, text: textOf(parsed), takenAt: context.clock.now() };
  const stored = await store.takeCommand(taken);
  const outcome = stored.outcome ?? (await store.endCommand(stored, await carryOut(given, stored, context)));
  const last = await store.lastCommands(repositoryId, number, maxEarlier + 1);
  const earlier = last.filter((each) => each.commentId !== commentId);
  const isFirst = parsed.kind === 'command' && parsed.isFirst === true;
  await putComment(store, { repository, number }, 'answer', answerTo({ ...stored, outcome }, earlier, isFirst));
  await react(context, given, outcome.kind === 'done' ? '+1' : 'confused');
  const words = logWords(outcome);
  log.info({ repository: repositoryId, pull: number, comment: commentId, code: outcome.code }, words);
  return [words];
};

/** A reaction is a courtesy: without the permission, or where GitHub pauses the App, the command is taken without. */
async function react(
  { githubApi, log }: Pick<AppContext, 'githubApi' | 'log'>,
  { repository, commentId }: DecisionOf<'command'>,
  reaction: Reaction,
): Promise<void> {
  try {
    await githubApi.react(repository, commentId, reaction);
  } catch (error) {
    if (!(error instanceof GitHubApiError) && !(error instanceof InstallationPaused)) throw error;
    log.warn({ repository: repository.repositoryId, comment: commentId }, `No reaction: ${error.message}`);
  }
}

/** The command as it is shown. */
function textOf(parsed: GivenCommand['parsed']): string {
  if (parsed.kind === 'command') {
    const { name, deployment, commit, times } = parsed.command;
    return [`/${name}`, deployment, commit, times].filter((each) => each !== undefined).join(' ');
  }
  const { problem } = parsed;
  if (problem.code === 'unknown-argument') return `/${problem.command}`;
  return problem.code === 'unknown-command' ? problem.written : '/…';
}

async function carryOut(
  given: DecisionOf<'command'>,
  stored: StoredCommand,
  context: AppContext,
): Promise<CommandOutcome> {
  const { repository, number, by, parsed, isLocked, writtenAt } = given;
  const { githubApi, clock } = context;
  const stranger = refusalOfPerson(by.login, await githubApi.permissionOf(repository, by.login, by.id));
  if (stranger) return refused(stranger);
  if (parsed.kind === 'problem') return refused(parsed.problem);
  const { command } = parsed;
  const pull = await githubApi.pullRequest({ repository, number });
  if (!pull) return refused({ code: 'not-open' });
  const facts = { isLocked, pull, ageMs: clock.now() - (writtenAt ?? stored.takenAt) };
  const refusal = refusalOfCommand(command.name, facts);
  if (refusal) return refused(refusal);
  if (command.name === 'help') return { kind: 'done', code: 'helped', details: commandTable() };
  const found = await candidatesOf(repository, pull, context);
  if (command.name === 'status') {
    const all = chooseDeployments(command, found);
    if (!all.ok) return refused(all.refusal);
    return { kind: 'done', code: 'status-shown', details: await statusOf(all.value, context) };
  }
  const { action } = stored;
  const chosen = chooseDeployment(action ? { deployment: action.deploymentId } : command, found);
  if (!chosen.ok) return refused(chosen.refusal);
  const other = commands[command.name].acts ? refusalOfProduction(chosen.value.target.terms, by.login) : undefined;
  if (other) return refused(other);
  const performed = performances[command.name]({ command, stored, repository, pull, candidate: chosen.value, context });
  return performed.catch(refusalOfService);
}

/** A refusal of the service is final; anything else is tried again with the delivery, until the command is too old. */
function refusalOfService(error: unknown): CommandOutcome {
  if (!(error instanceof ServiceError) || isTransient(error)) throw error;
  return refused({ code: 'service-error', text: error.message });
}

const performances: Record<
  Exclude<CommandName, 'help' | 'status'>,
  (performance: Performance) => Promise<CommandOutcome>
> = {
  deploy,
  rollback: rollBack,
};
