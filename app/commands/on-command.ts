import { isTransient, ServiceError } from '../../src/contract/service-error.ts';
import type { AppContext } from '../context.ts';
import type { DecisionOf, Handler, HandlerContext } from '../events/event-types.ts';
import {
  GitHubApiError,
  InstallationPaused,
  type InstallationRepository,
  type PullRequestState,
  type Reaction,
} from '../github/github-api.ts';
import { putComment } from '../pull-requests/comment.ts';
import { answerTo, logWords, maxEarlier } from '../../src/deploy/commands/answer.ts';
import { candidatesOf } from './candidates.ts';
import {
  chooseDeployment,
  chooseDeployments,
  meantBy,
  refusalOfCommand,
  refusalOfPerson,
  refusalOfProduction,
} from '../../src/deploy/commands/decide.ts';
import type { Command, CommandName } from '../../src/deploy/commands/definitions.ts';
import { refused, type CommandOutcome } from '../../src/deploy/commands/outcomes.ts';
import { textOf } from '../../src/deploy/commands/parse.ts';
import { outcomeOfEarlier } from './carried-out.ts';
import { plan, preview, requestPreview } from './look.ts';
import { cancel, deploy, rollBack } from './perform.ts';
import { promote } from './promote.ts';
import type { Performance } from './performance.ts';
import { runTests } from './run-tests.ts';
import { statusOf } from './status.ts';
import type { StoredCommand } from './stored-command.ts';
import { commandTable } from '../../src/deploy/commands/words.ts';

/**
 * Handles a command: reacts at once, checks who gave it, carries it out, and answers in the comment of the App. It may
 * run again for the same comment at any time: what was decided and done first stays.
 */
export const onCommand: Handler<'command'> = async (given, handling) => {
  const { context } = handling;
  const { repository, number, commentId, parsed, by } = given;
  const { store, log } = context;
  await react(context, given, 'eyes');
  const { repositoryId } = repository;
  const taken = { repositoryId, commentId, number, by: by.login, text: textOf(parsed), takenAt: context.clock.now() };
  const stored = await store.takeCommand(taken);
  const outcome =
    stored.outcome ?? (await store.endCommand(stored, await carryOut(given, stored, handling).catch(refusalOfService)));
  const last = await store.lastCommands(repositoryId, number, maxEarlier + 1);
  const isFirst = parsed.kind === 'command' && parsed.isFirst === true;
  await putComment(store, { repository, number }, 'answer', answerTo({ ...stored, outcome }, last, isFirst));
  await react(context, given, outcome.kind === 'done' ? '+1' : 'confused');
  const words = logWords(outcome);
  // Whoever may comment could fill the log otherwise. The answer to them stands in the comment.
  const level = outcome.code === 'no-write' ? 'debug' : 'info';
  log[level]({ repository: repositoryId, pull: number, comment: commentId, code: outcome.code }, words);
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

async function carryOut(
  given: DecisionOf<'command'>,
  stored: StoredCommand,
  handling: HandlerContext,
): Promise<CommandOutcome> {
  const { context } = handling;
  // What an earlier attempt did is done: nothing is refused any more.
  const earlier = await outcomeOfEarlier(stored, context);
  if (earlier) return earlier;
  if (stored.action?.kind === 'preview') return requestPreview(stored.action, { given, stored, context });
  const { repository, by, parsed } = given;
  const stranger = refusalOfPerson(by.login, await context.githubApi.permissionOf(repository, by.login, by.id));
  if (stranger) return refused(stranger);
  if (parsed.kind === 'problem') return refused(parsed.problem);
  return obey(parsed.command, given, stored, handling);
}

/** Carries out a command of a person who may give it. */
async function obey(
  command: Command,
  given: DecisionOf<'command'>,
  stored: StoredCommand,
  handling: HandlerContext,
): Promise<CommandOutcome> {
  const { context } = handling;
  const { repository, number, isLocked, writtenAt } = given;
  const pull = await context.githubApi.pullRequest({ repository, number });
  if (!pull) return refused({ code: 'not-open' });
  const since = writtenAt ?? stored.takenAt;
  const facts = { isLocked, pull, ageMs: context.clock.now() - since };
  const refusal = refusalOfCommand(command.name, facts);
  if (refusal) return refused(refusal);
  switch (command.name) {
    case 'help':
      return { kind: 'done', code: 'helped', details: commandTable() };
    case 'plan':
      return plan({ command, given, stored, pull, ...handling });
    case 'preview':
      return preview({ command, given, stored, pull, ...handling });
    case 'status':
      return showStatus(command, repository, pull, handling);
    default:
      return act(command.name, { command, stored, repository, pull, writtenAt: since, context });
  }
}

async function showStatus(
  command: Command,
  repository: InstallationRepository,
  pull: PullRequestState,
  { context }: HandlerContext,
): Promise<CommandOutcome> {
  const chosen = chooseDeployments(command, await candidatesOf(repository, pull, context));
  if (!chosen.ok) return refused(chosen.refusal);
  return { kind: 'done', code: 'status-shown', details: await statusOf(chosen.value, context) };
}

/** Acts on the deployment that the command is about; after a crash on the one that it was about before. */
async function act(name: ActingCommand, performance: Omit<Performance, 'candidate'>): Promise<CommandOutcome> {
  const { command, stored, repository, pull, context } = performance;
  const found = await candidatesOf(repository, pull, context);
  const { action } = stored;
  const isSame = action !== undefined && 'deploymentId' in action;
  const chosen = chooseDeployment(
    isSame ? { deployment: action.deploymentId } : command,
    isSame ? found : meantBy(command, found),
  );
  if (!chosen.ok) return refused(chosen.refusal);
  const other = refusalOfProduction(chosen.value.target.terms, stored.by);
  if (other) return refused(other);
  return performances[name]({ ...performance, candidate: chosen.value });
}

/** A refusal of the service is final; anything else is tried again with the delivery, until the command is too old. */
function refusalOfService(error: unknown): CommandOutcome {
  if (!(error instanceof ServiceError) || isTransient(error)) throw error;
  return refused({ code: 'service-error', text: error.message });
}

type ActingCommand = Exclude<CommandName, 'help' | 'plan' | 'preview' | 'status'>;

const performances: Record<ActingCommand, (performance: Performance) => Promise<CommandOutcome>> = {
  deploy,
  rollback: rollBack,
  promote,
  test: runTests,
  cancel,
};
