import * as z from 'zod';
import { assistantSchema, assistantVersion, graphSchemas } from '../../../contract/agent/assistant.ts';
import { runConfigRequest, freeObject } from '../../../contract/agent/open-word.ts';
import { cronSchema } from '../../../contract/agent/cron.ts';
import { multitaskStrategies, onCompletion, runSchema, runStatuses, runError } from '../../../contract/agent/run.ts';
import { storeItem } from '../../../contract/agent/store-item.ts';
import {
  checkpointSchema,
  threadSchema,
  threadStatuses,
  threadState,
  threadTask,
} from '../../../contract/agent/thread.ts';

// The exact responses of this server. The contract's response schemas are looser, because they parse other servers'
// too.

const id = z.uuid();
const time = z.iso.datetime();
const text = z.string();

const times = { created_at: time, updated_at: time };

const assistantFields = {
  assistant_id: id,
  name: text,
  description: text.nullable(),
  context: freeObject,
  config: runConfigRequest,
  metadata: freeObject,
  ...times,
};

export const assistantResponse = z.looseObject({ ...assistantSchema.shape, ...assistantFields, version: z.int() });
export const assistantVersionResponse = z.looseObject({ ...assistantVersion.shape, ...assistantFields });

export const graphSchemasResponse = z.looseObject({ ...graphSchemas.shape, state_schema: freeObject });
export const subgraphSchemasResponse = graphSchemasResponse.omit({ graph_id: true });
export const subgraphsResponse = z.record(z.string(), subgraphSchemasResponse);

export const threadResponse = z.looseObject({
  ...threadSchema.shape,
  thread_id: id,
  ...times,
  metadata: freeObject,
  status: z.enum(threadStatuses),
  config: freeObject,
  values: z.union([freeObject, z.array(z.unknown())]).nullable(),
  interrupts: freeObject,
});

/** A task that is a subgraph includes its state if requested. */
const threadTaskResponse = threadTask.extend({
  error: text.nullable(),
  state: z.lazy((): z.ZodType => threadStateResponse).nullish(),
});

export const threadStateResponse = z.looseObject({
  ...threadState.shape,
  values: z.unknown(),
  tasks: z.array(threadTaskResponse),
  checkpoint: checkpointSchema.nullable(),
  metadata: freeObject,
  created_at: text.nullable(),
  interrupts: z.array(z.unknown()),
});

/** The checkpoint of the state that an update created. */
export const stateUpdateResponse = z.looseObject({ checkpoint: checkpointSchema });

export const runResponse = z.looseObject({
  ...runSchema.shape,
  run_id: id,
  thread_id: id,
  assistant_id: id,
  ...times,
  run_started_at: time.optional(),
  run_ended_at: time.optional(),
  status: z.enum(runStatuses),
  metadata: freeObject,
  kwargs: freeObject,
  multitask_strategy: z.enum(multitaskStrategies),
});

/** The state after a run, or its error under `__error__`. */
export const runResultResponse = z.union([z.object({ __error__: runError }), z.unknown()]);

export const cronResponse = z.looseObject({
  ...cronSchema.shape,
  cron_id: id,
  assistant_id: id,
  thread_id: id.nullable(),
  end_time: time.nullable(),
  enabled: z.boolean(),
  on_run_completed: z.enum(onCompletion).nullable(),
  ...times,
  next_run_date: time.nullable(),
  payload: freeObject,
  metadata: freeObject,
  user_id: text.nullable(),
});

export const storeItemResponse = z.looseObject({ ...storeItem.shape, ...times });
export const storeItemsResponse = z.looseObject({ items: z.array(storeItemResponse) });

export const fieldProblemResponse = z.object({
  loc: z.array(z.union([text, z.int()])),
  msg: text,
  type: text,
});
/** The body of every error: a sentence, or an entry for every invalid field. */
export const validationErrorResponse = z.object({ detail: z.union([text, z.array(fieldProblemResponse)]) });

/** A number of matches. */
export const countResponse = z.int();
