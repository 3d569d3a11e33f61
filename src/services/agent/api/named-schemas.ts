import * as assistants from '../../../contract/agent/assistant.ts';
import { runConfigRequest } from '../../../contract/agent/open-word.ts';
import * as crons from '../../../contract/agent/cron.ts';
import * as runs from '../../../contract/agent/run.ts';
import * as store from '../../../contract/agent/store-item.ts';
import * as threads from '../../../contract/agent/thread.ts';
import { cronCreate, threadCronCreate } from '../crons/operations.ts';
import { rpcAnswer, rpcCall } from '../protocols/messages.ts';
import { runBatch, statefulRun, statelessRun } from '../runs/start-operations.ts';
import { pruned, threadCreation } from '../threads/operations.ts';
import * as responses from './response-schemas.ts';
import { info } from './system-operations.ts';

/** The schemas that have a name in the document, with the public API's name if it has one. */
export const namedSchemas = {
  Assistant: responses.assistantResponse,
  AssistantCountRequest: assistants.assistantCount,
  AssistantCreate: assistants.assistantCreate,
  AssistantPatch: assistants.assistantPatch,
  AssistantSearchRequest: assistants.assistantSearch,
  AssistantVersion: responses.assistantVersionResponse,
  AssistantVersionChange: assistants.assistantVersionChange,
  AssistantVersionsSearchRequest: assistants.assistantVersionsSearch,
  CheckpointConfig: threads.checkpointSchema,
  Command: runs.commandSchema,
  Config: runConfigRequest,
  Cron: responses.cronResponse,
  CronCountRequest: crons.cronCount,
  CronCreate: cronCreate,
  CronPatch: crons.cronPatch,
  CronSearch: crons.cronSearch,
  ErrorResponse: responses.validationErrorResponse,
  GraphDrawing: assistants.graphDrawing,
  GraphSchema: responses.graphSchemasResponse,
  GraphSchemaNoId: responses.subgraphSchemasResponse,
  Item: responses.storeItemResponse,
  ListNamespaceResponse: store.storeNamespacesReply,
  Pruned: pruned,
  RpcAnswer: rpcAnswer,
  RpcCall: rpcCall,
  Run: responses.runResponse,
  RunBatchCreate: runBatch,
  RunCreateStateful: statefulRun,
  RunCreateStateless: statelessRun,
  RunsCancel: runs.runsCancel,
  SearchItemsResponse: responses.storeItemsResponse,
  Send: runs.send,
  ServerInfo: info,
  StoreDeleteRequest: store.storeDelete,
  StoreListNamespacesRequest: store.storeNamespaces,
  StorePutRequest: store.storePut,
  StoreSearchRequest: store.storeSearch,
  Subgraphs: responses.subgraphsResponse,
  Thread: responses.threadResponse,
  ThreadCountRequest: threads.threadCount,
  ThreadCreate: threadCreation,
  ThreadCronCreate: threadCronCreate,
  ThreadPatch: threads.threadPatch,
  ThreadPruneRequest: threads.threadPrune,
  ThreadSearchRequest: threads.threadSearch,
  ThreadState: responses.threadStateResponse,
  ThreadStateCheckpointRequest: threads.threadStateCheckpoint,
  ThreadStateSearch: threads.threadHistorySearch,
  ThreadStateUpdate: threads.threadStateUpdate,
  ThreadStateUpdateResponse: responses.stateUpdateResponse,
  ThreadSuperstepUpdate: runs.superstepUpdate,
  ValidationError: responses.fieldProblemResponse,
};
