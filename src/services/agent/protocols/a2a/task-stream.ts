import { Role, TaskState, type StreamResponse, type TaskStatus } from '@a2a-js/sdk';
import { isObject } from '../../../../kit/json-object.ts';
import { errorKey } from '../../../../contract/agent/run.ts';
import { errorEvent, metadataEvent, splitEventName } from '../../../../contract/agent/stream-event.ts';
import { memberOf } from '../../members.ts';
import { artifact, artifactsOf, readStateMessage, textPart, type TaskIds } from './messages.ts';
import { interruptKey, outcomeOf, taskUnderWay } from './task.ts';

/** An event of a run's stream. */
export interface RunEvent {
  event: string;
  data: unknown;
}

/** The stream modes for a task: messages while they are generated, and the state. */
export const taskModes = ['messages-tuple', 'values'] as const;

/**
 * Converts the events of a run to those of a task: the task, output as it is generated, the whole result, the final
 * state. A stream that breaks as this process shuts down reports no end: another one continues the run.
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
    if (mode === metadataEvent) {
      ids = idsOf(String(memberOf(data, 'run_id')));
      yield { payload: { $case: 'task', value: taskUnderWay(ids, TaskState.TASK_STATE_WORKING, given.input) } };
    } else if (mode === errorEvent) result = { [errorKey]: data };
    else if (mode === 'values' && namespace.length === 0) {
      const waitsFor = isObject(data) ? data[interruptKey] : undefined;
      // Several tasks of the graph may interrupt one after the other.
      if (Array.isArray(waitsFor)) requested = [...(requested ?? []), ...waitsFor];
      else result = data;
    } else if (mode === 'messages' && ids) {
      const chunk = readStateMessage(Array.isArray(data) ? data[0] : undefined, 0);
      if (chunk?.role !== Role.ROLE_AGENT || chunk.text === '') continue;
      yield reported(ids, artifact(chunk.id, textPart(chunk.text)), {
        append: started.has(chunk.id),
        lastChunk: false,
      });
      started.add(chunk.id);
    }
  }
  if (!ids || isContinued(result)) return;
  const hasFailed = memberOf(result, errorKey) !== undefined;
  const left = requested && !hasFailed ? { ...(isObject(result) ? result : {}), [interruptKey]: requested } : result;
  const { state, message, values } = outcomeOf(left, ids);
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

const isContinued = (result: unknown): boolean => memberOf(memberOf(result, errorKey), 'error') === 'ServerStopped';
