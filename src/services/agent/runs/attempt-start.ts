import type { Command } from '../../../contract/agent/run.ts';
import { toPlainNumber } from '../../../kit/exact-number.ts';
import { isObject } from '../../../kit/json-object.ts';
import type { Graph } from '../graphs/graph.ts';
import { queryWithRetries } from '../storage/retry-policy.ts';
import type { RunDependencies } from './dependencies.ts';
import { openTasks } from './open-tasks.ts';
import { checkpointOfAll, type RunPlan } from './run-plan.ts';
import type { AttemptProgress } from './run-reads.ts';

/**
 * How an attempt starts: `as-requested`; `go-on` from the last checkpoint; `answer-taken`, after withdrawing the resume
 * value that the next interrupt would consume; `over`, after undoing the previous attempt.
 */
export type AttemptStart = 'as-requested' | 'go-on' | 'answer-taken' | 'over';

/** Decides how a later attempt starts, so that a run's input or command is applied exactly once. */
export function decideAttemptStart(
  { command, checkpoint }: RunPlan['kwargs'],
  { wentOn, inside, taken }: AttemptProgress,
): AttemptStart {
  if (wentOn) return 'go-on';
  if (!command) return 'as-requested';
  if (!inside || checkpoint !== undefined) return 'over';
  return taken ? 'answer-taken' : 'as-requested';
}

/** Prepares the database for an attempt of a run, and returns the engine's input. */
export async function beginAttempt(
  { runId, threadId, graphId, temporary, kwargs }: RunPlan,
  attempt: number,
  graph: Graph,
  { graphs, store }: Pick<RunDependencies, 'graphs' | 'store'>,
): Promise<{ input: unknown; kwargs: RunPlan['kwargs'] }> {
  const isLater = attempt > 1 && !temporary;
  const start = isLater
    ? decideAttemptStart(kwargs, await queryWithRetries(() => store.howFar({ thread_id: threadId, run_id: runId })))
    : 'as-requested';
  if (start === 'over') await queryWithRetries(() => store.startOver(runId));
  if (start === 'answer-taken') await queryWithRetries(() => store.answerTaken(runId));
  if (start === 'go-on' || start === 'answer-taken')
    return { input: null, kwargs: { ...kwargs, checkpoint: undefined } };
  const input = kwargs.input ?? null;
  const command = kwargs.command && (await keyResumeByInterrupt(kwargs.command, graph, threadId, kwargs.checkpoint));
  const getsAnswer = command?.resume !== undefined && !isKeyedByInterrupt(command.resume);
  // The engine keeps a previous run's resume value, and would pass it to the next interrupt.
  if (!temporary && !getsAnswer && (command !== undefined || input === null))
    await queryWithRetries(() => store.formerAnswersTaken({ threadId, runId }));
  return { input: command ? graphs.command(graphId, command) : input, kwargs };
}

/** Adds the interrupt's id to values such as `false` and `0`, which the engine otherwise ignores. */
async function keyResumeByInterrupt(
  command: Command,
  graph: Graph,
  threadId: string,
  checkpoint: RunPlan['kwargs']['checkpoint'],
): Promise<Command> {
  const { resume, update, goto } = command;
  if (resume === undefined || Boolean(toPlainNumber(resume))) return command;
  // Beside other commands, null is no resume value.
  if (resume === null && (update != null || goto != null)) return { update, goto };
  const id = checkpointOfAll(checkpoint);
  const place = { thread_id: threadId, ...(id === undefined ? {} : { checkpoint_id: id }) };
  const { interrupts } = await openTasks(graph, await graph.getState({ configurable: place }));
  const ids = Object.values(interrupts).flat().map(idOf);
  if (ids.length === 0 || !ids.every(isInterruptId)) return command;
  return { ...command, resume: Object.fromEntries(ids.map((question) => [question, resume])) };
}

const idOf = (interrupt: unknown): string => (isObject(interrupt) ? String(interrupt['id']) : '');

const isInterruptId = (id: string): boolean => /^[0-9a-f]{32}$/.test(id);

/** Whether resume values are already keyed by interrupt id. */
const isKeyedByInterrupt = (resume: unknown): boolean =>
  isObject(resume) && Object.keys(resume).length > 0 && Object.keys(resume).every(isInterruptId);
