import type { Command } from '../../contract/agent/run.ts';
import type { Graph } from '../graphs/graph.ts';
import type { Graphs } from '../graphs/graphs.ts';
import { openTasks } from './open-tasks.ts';
import { checkpointOfAll } from './run-plan.ts';
import type { RunPlan } from './run-plan.ts';
import type { HowFar } from './reads.ts';
import type { RunStore } from './store.ts';

/**
 * How a run begins. `asked`: as it was asked for. `go-on`: where it was, for what it was told is in its own states.
 * `answer-taken`: where it was, but what it was told lies where the next question would take it. `over`: as it was asked
 * for, once what it wrote is undone.
 */
export type Start = 'asked' | 'go-on' | 'answer-taken' | 'over';

/** How a later attempt begins: what a run was told counts once, and is not lost. */
export function startAgain({ command, checkpoint }: RunPlan['kwargs'], { wentOn, inside, taken }: HowFar): Start {
  if (wentOn) return 'go-on';
  if (!command) return 'asked';
  if (!inside || checkpoint !== undefined) return 'over';
  return taken ? 'answer-taken' : 'asked';
}

/** What the engine gets for an attempt. */
export interface Started {
  input: unknown;
  kwargs: RunPlan['kwargs'];
}

/** What an attempt begins with. */
export interface AttemptParts {
  attempt: number;
  graph: Graph;
  graphs: Graphs;
  store: RunStore;
  /** Asks the database; each thing that is asked here may be done twice. */
  ask: <T>(ask: () => Promise<T>) => Promise<T>;
}

/** Has all in place for an attempt of a run, and tells what the engine gets. */
export async function beginAttempt(
  { runId, threadId, graphId, temporary, kwargs }: RunPlan,
  { attempt, graph, graphs, store, ask }: AttemptParts,
): Promise<Started> {
  const isLater = attempt > 1 && !temporary;
  const start = isLater
    ? startAgain(kwargs, await ask(() => store.howFar({ thread_id: threadId, run_id: runId })))
    : 'asked';
  if (start === 'over') await ask(() => store.startOver(runId));
  if (start === 'answer-taken') await ask(() => store.answerTaken(runId));
  if (start === 'go-on' || start === 'answer-taken')
    return { input: null, kwargs: { ...kwargs, checkpoint: undefined } };
  const input = kwargs.input ?? null;
  const command = kwargs.command && (await withQuestion(kwargs.command, graph, threadId, kwargs.checkpoint));
  const getsAnswer = command?.resume !== undefined && !isByQuestion(command.resume);
  // The engine keeps an answer that a former run was told, and would give it to the next question.
  if (!temporary && !getsAnswer && (command !== undefined || input === null))
    await ask(() => store.formerAnswersTaken({ threadId, runId }));
  return { input: command ? graphs.command(graphId, command) : input, kwargs };
}

/** The engine takes `false`, `0` and the like for no answer, unless they name the question. */
async function withQuestion(
  command: Command,
  graph: Graph,
  threadId: string,
  checkpoint: RunPlan['kwargs']['checkpoint'],
): Promise<Command> {
  const { resume, update, goto } = command;
  if (resume === undefined || Boolean(resume)) return command;
  // Where it is told to do something else, no answer is meant by null.
  if (resume === null && (update != null || goto != null)) return { update, goto };
  const id = checkpointOfAll(checkpoint);
  const place = { thread_id: threadId, ...(id === undefined ? {} : { checkpoint_id: id }) };
  const { interrupts } = await openTasks(graph, await graph.getState({ configurable: place }));
  const ids = Object.values(interrupts).flat().map(idOf);
  if (ids.length === 0 || !ids.every(isQuestion)) return command;
  return { ...command, resume: Object.fromEntries(ids.map((question) => [question, resume])) };
}

const idOf = (interrupt: unknown): string =>
  typeof interrupt === 'object' && interrupt !== null ? String(Reflect.get(interrupt, 'id')) : '';

const isQuestion = (id: string): boolean => /^[0-9a-f]{32}$/.test(id);

/** Whether answers name the questions that they are for. */
const isByQuestion = (resume: unknown): boolean =>
  typeof resume === 'object' &&
  resume !== null &&
  Object.keys(resume).length > 0 &&
  Object.keys(resume).every(isQuestion);
