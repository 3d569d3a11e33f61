import * as z from 'zod';
import { multitaskStrategies, runSchema, type MultitaskStrategy } from '../../../../contract/agent/run.ts';
import { freeObject, type FreeObject } from '../../../../contract/agent/open-word.ts';
import type { inputRespondParams, runStartParams, stateForkParams } from '../../../../contract/agent/thread-stream.ts';
import { threadState } from '../../../../contract/agent/thread.ts';
import { isObject } from '../../../../kit/json-object.ts';
import { Refusal } from '../../refusal.ts';
import { threadStreamHeader } from '../internal-api.ts';
import { CommandRefusal, type CommandContext } from './command.ts';

type RunContext = Pick<CommandContext, 'api' | 'threadId'>;

const threadResponse = z.looseObject({
  status: z.string(),
  metadata: freeObject.nullish(),
  interrupts: z.record(z.string(), z.array(z.unknown())).nullish(),
});

/** The thread; undefined if there is none that the caller may read. */
export async function readThread({ api, threadId }: RunContext): Promise<z.infer<typeof threadResponse> | undefined> {
  try {
    return await api.read(threadResponse, 'GET', `/threads/${threadId}`);
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return undefined;
    throw error;
  }
}

/** The ids of the interrupts that the state of a thread waits with: its row has none while a run answers another one. */
async function openInterrupts({ api, threadId }: RunContext): Promise<string[]> {
  const { interrupts } = await api.read(threadState, 'GET', `/threads/${threadId}/state`);
  return (interrupts ?? []).flatMap((each) => (isObject(each) && typeof each['id'] === 'string' ? [each['id']] : []));
}

/** How long (ms) a response to an interrupt waits for the end of the interrupted run. */
const endWithinMs = 10_000;
/** How long (ms) an input waits for the end of a run that may have asked for it. */
const askedWithinMs = 2_000;

/** Waits for the end of the runs that a thread executes; false if it has none. */
async function runsHaveEnded({ api, threadId }: RunContext, withinMs: number): Promise<boolean> {
  const signal = AbortSignal.timeout(withinMs);
  const running = await api.read(z.array(runSchema), 'GET', `/threads/${threadId}/runs?status=running`);
  for (const { run_id } of running) {
    const ended = async () => (await api.ask('GET', `/threads/${threadId}/runs/${run_id}/join`, { signal })).text();
    await ended().catch((error: unknown) => {
      // A run that was deleted meanwhile has ended too.
      if (!signal.aborted && !(error instanceof Refusal && error.status === 404)) throw error;
    });
  }
  return running.length > 0;
}

/** The same; a client may respond to an event before the run that sent it has ended, so that end comes first. */
async function interruptsFor(ids: readonly string[], context: CommandContext): Promise<string[]> {
  const open = await openInterrupts(context);
  if (ids.every((id) => open.includes(id))) return open;
  return (await runsHaveEnded(context, endWithinMs)) ? openInterrupts(context) : open;
}

/** Whether a thread waits for an answer. A client may have the question of a run that has not quite ended. */
async function waitsForAnswer(strategy: MultitaskStrategy, context: RunContext): Promise<boolean> {
  const status = (await readThread(context))?.status;
  const mayEnd = status === 'busy' && strategy === 'enqueue';
  if (status !== 'interrupted' && !mayEnd) return false;
  if ((await openInterrupts(context)).length === 0) return false;
  if (status === 'interrupted') return true;
  await runsHaveEnded(context, askedWithinMs);
  return (await readThread(context))?.status === 'interrupted' && (await openInterrupts(context)).length > 0;
}

/** Starts a run with an input; on a thread that waits for an answer, the input is that answer. */
export async function startRun(
  { assistant_id, input, config, metadata, multitaskStrategy }: z.infer<typeof runStartParams>,
  context: RunContext,
): Promise<object> {
  const strategy = multitaskStrategies.find((each) => each === multitaskStrategy) ?? 'enqueue';
  const resumes = input != null && (await waitsForAnswer(strategy, context));
  const run = await createRun(context, {
    assistant_id,
    ...(resumes ? { command: { resume: input } } : { input }),
    ...runOptions(config, metadata),
    multitask_strategy: strategy,
  });
  return { run_id: run.run_id };
}

export async function respond(
  { responses, config, metadata, update, goto }: z.output<typeof inputRespondParams>,
  context: CommandContext,
): Promise<object> {
  const thread = await readThread(context);
  const assistantId = assistantOf(thread);
  const ids = responses.map(({ interrupt_id }) => interrupt_id);
  const open = await interruptsFor(ids, context);
  if (open.length === 0) {
    const message = 'No run of this thread waits for a response. Send it after the event input.requested.';
    throw new CommandRefusal('invalid_argument', message);
  }
  const unknown = responses.find(({ interrupt_id }) => !open.includes(interrupt_id));
  if (unknown) {
    const waiting = open.map((id) => `"${id}"`).join(', ');
    const message = `The thread has no interrupt "${unknown.interrupt_id}". It waits for ${waiting}.`;
    throw new CommandRefusal('no_such_interrupt', message);
  }
  const resume = Object.fromEntries(responses.map(({ interrupt_id, response }) => [interrupt_id, response ?? null]));
  const command = { resume, ...(update == null ? {} : { update }), ...(goto == null ? {} : { goto }) };
  await createRun(context, { assistant_id: assistantId, command, ...runOptions(config, metadata) });
  return {};
}

/** Starts a run from an earlier state. */
export async function fork(
  { checkpoint_id, input, config }: z.infer<typeof stateForkParams>,
  context: CommandContext,
): Promise<object> {
  const { api, threadId } = context;
  const assistantId = assistantOf(await readThread(context));
  await api.ask('GET', `/threads/${threadId}/state/${encodeURIComponent(checkpoint_id)}`).catch((error: unknown) => {
    if (!(error instanceof Refusal) || error.status >= 500) throw error;
    const problem = `The thread has no checkpoint "${checkpoint_id}".`;
    throw new CommandRefusal('no_such_checkpoint', `${problem} Take one from state.listCheckpoints.`);
  });
  const run = await createRun(context, {
    assistant_id: assistantId,
    input: input ?? null,
    config: config ?? undefined,
    checkpoint_id,
  });
  return { run_id: run.run_id, thread_id: threadId };
}

/** The assistant of the last run on a thread. */
function assistantOf(thread: Awaited<ReturnType<typeof readThread>>): string {
  const id = thread?.metadata?.['assistant_id'];
  if (typeof id === 'string') return id;
  throw new CommandRefusal('no_such_run', 'This thread has had no run. Start one with run.start.');
}

/** The configuration of a run; a client forks a thread by a checkpoint in it. */
function runOptions(config: FreeObject | null | undefined, metadata: FreeObject | null | undefined): object {
  const configurable = config?.['configurable'];
  const checkpointId = isObject(configurable) ? configurable['checkpoint_id'] : undefined;
  return {
    config: config ?? undefined,
    metadata: metadata ?? undefined,
    ...(typeof checkpointId === 'string' ? { checkpoint_id: checkpointId } : {}),
  };
}

const createRun = ({ api, threadId }: RunContext, request: object): Promise<z.infer<typeof runSchema>> =>
  api.read(runSchema, 'POST', `/threads/${threadId}/runs`, {
    headers: { [threadStreamHeader]: 'true' },
    body: { ...request, stream_resumable: true, if_not_exists: 'create' },
  });
