import { Role, TaskState } from '@a2a-js/sdk';
import type { StreamResponse, TaskStatus } from '@a2a-js/sdk';
import { isObject } from '../../../contract/json-object.ts';
import { ERROR_KEY } from '../../../contract/agent/run.ts';
import { ERROR_EVENT, METADATA_EVENT, splitEventName } from '../../../contract/agent/stream-event.ts';
import { artifact, artifactsOf, readSaid, textPart } from './messages.ts';
import { INTERRUPT, standingAfter, taskUnderWay } from './task.ts';
import type { TaskIds } from './task.ts';

/** An event of a run's stream. */
export interface RunEvent {
  event: string;
  data: unknown;
}

/** The modes in which a run is followed for a task: what is said while it is said, and what it comes to. */
export const TASK_MODES = ['messages-tuple', 'values'] as const;

/**
 * The events of a run as a task's: the task, what the agent says as it says it, its whole answer, and how it ended. A
 * stream that broke off because the server leaves tells no end: the run goes on elsewhere.
 *
 * @param given what the run was given, and the id of the message that the task began with.
 */
export async function* taskStream(
  events: AsyncIterable<RunEvent>,
  idsOf: (runId: string) => TaskIds,
  given: { input: unknown; messageId: string | undefined },
): AsyncGenerator<StreamResponse, void, undefined> {
  let ids: TaskIds | undefined;
  let result: unknown;
  let requested: unknown[] | undefined;
  const started = new Set<string>();
  for await (const { event, data } of events) {
    const { mode, namespace } = splitEventName(event);
    if (mode === METADATA_EVENT) {
      ids = idsOf(runIdOf(data));
      yield { payload: { $case: 'task', value: taskUnderWay(ids, TaskState.TASK_STATE_WORKING, given.input) } };
    } else if (mode === ERROR_EVENT) result = { [ERROR_KEY]: data };
    else if (mode === 'values' && namespace.length === 0) {
      const waitsFor = isObject(data) ? data[INTERRUPT] : undefined;
      // Several may ask, one after the other.
      if (Array.isArray(waitsFor)) requested = [...(requested ?? []), ...waitsFor];
      else result = data;
    } else if (mode === 'messages' && ids) {
      const chunk = readSaid(Array.isArray(data) ? data[0] : undefined, 0);
      if (chunk?.role !== Role.ROLE_AGENT || chunk.text === '') continue;
      yield reported(ids, artifact(chunk.id, textPart(chunk.text)), {
        append: started.has(chunk.id),
        lastChunk: false,
      });
      started.add(chunk.id);
    }
  }
  if (!ids || isContinued(result)) return;
  const hasFailed = field(result, ERROR_KEY) !== undefined;
  const left = requested && !hasFailed ? { ...(isObject(result) ? result : {}), [INTERRUPT]: requested } : result;
  const { state, message, values } = standingAfter(left, ids);
  if (state === TaskState.TASK_STATE_COMPLETED) {
    for (const whole of artifactsOf(values, given.messageId))
      yield reported(ids, whole, { append: false, lastChunk: true });
  }
  const status: TaskStatus = { state, message, timestamp: undefined };
  yield { payload: { $case: 'statusUpdate', value: { ...ids, status, metadata: undefined } } };
}

const reported = (
  ids: TaskIds,
  value: ReturnType<typeof artifact>,
  how: { append: boolean; lastChunk: boolean },
): StreamResponse => ({
  payload: { $case: 'artifactUpdate', value: { ...ids, artifact: value, ...how, metadata: undefined } },
});

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;

const runIdOf = (data: unknown): string => String(field(data, 'run_id'));

const isContinued = (result: unknown): boolean => field(field(result, ERROR_KEY), 'error') === 'ServerStopped';
