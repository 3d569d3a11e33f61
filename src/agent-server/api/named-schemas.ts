import {
  assistantCount,
  assistantCreate,
  assistantPatch,
  assistantSearch,
  assistantVersionChange,
  assistantVersionsSearch,
  graphDrawing,
} from '../../contract/agent/assistant.ts';
import { runConfigRequest } from '../../contract/agent/config.ts';
import { cronCount, cronPatch, cronSearch } from '../../contract/agent/cron.ts';
import { commandSchema, runsCancel, send } from '../../contract/agent/run.ts';
import {
  storeDelete,
  storeNamespaces,
  storeNamespacesReply,
  storePut,
  storeSearch,
} from '../../contract/agent/store-item.ts';
import { superstepUpdate } from '../../contract/agent/superstep.ts';
import {
  checkpointSchema,
  threadCount,
  threadHistorySearch,
  threadPatch,
  threadPrune,
  threadSearch,
  threadStateCheckpoint,
  threadStateUpdate,
} from '../../contract/agent/thread.ts';
import { cronCreate, threadCronCreate } from '../crons/operations.ts';
import { rpcAnswer, rpcCall } from '../protocols/messages.ts';
import { runBatch, statefulRun, statelessRun } from '../runs/start-operations.ts';
import { pruned, threadCreation } from '../threads/operations.ts';
import * as responses from './response-schemas.ts';
import { info } from './system-operations.ts';

/** The schemas that have a name in the document, with the public API's name if it has one. */
export const namedSchemas = {
  Assistant: responses.assistantResponse,
  AssistantCountRequest: assistantCount,
  AssistantCreate: assistantCreate,
  AssistantPatch: assistantPatch,
  AssistantSearchRequest: assistantSearch,
  AssistantVersion: responses.assistantVersionResponse,
  AssistantVersionChange: assistantVersionChange,
  AssistantVersionsSearchRequest: assistantVersionsSearch,
  CheckpointConfig: checkpointSchema,
  Command: commandSchema,
  Config: runConfigRequest,
  Cron: responses.cronResponse,
  CronCountRequest: cronCount,
  CronCreate: cronCreate,
  CronPatch: cronPatch,
  CronSearch: cronSearch,
  ErrorResponse: responses.validationErrorResponse,
  GraphDrawing: graphDrawing,
  GraphSchema: responses.graphSchemasResponse,
  GraphSchemaNoId: responses.subgraphSchemasResponse,
  Item: responses.storeItemResponse,
  ListNamespaceResponse: storeNamespacesReply,
  Pruned: pruned,
  RpcAnswer: rpcAnswer,
  RpcCall: rpcCall,
  Run: responses.runResponse,
  RunBatchCreate: runBatch,
  RunCreateStateful: statefulRun,
  RunCreateStateless: statelessRun,
  RunsCancel: runsCancel,
  SearchItemsResponse: responses.storeItemsResponse,
  Send: send,
  ServerInfo: info,
  StoreDeleteRequest: storeDelete,
  StoreListNamespacesRequest: storeNamespaces,
  StorePutRequest: storePut,
  StoreSearchRequest: storeSearch,
  Subgraphs: responses.subgraphsResponse,
  Thread: responses.threadResponse,
  ThreadCountRequest: threadCount,
  ThreadCreate: threadCreation,
  ThreadCronCreate: threadCronCreate,
  ThreadPatch: threadPatch,
  ThreadPruneRequest: threadPrune,
  ThreadSearchRequest: threadSearch,
  ThreadState: responses.threadStateResponse,
  ThreadStateCheckpointRequest: threadStateCheckpoint,
  ThreadStateSearch: threadHistorySearch,
  ThreadStateUpdate: threadStateUpdate,
  ThreadStateUpdateResponse: responses.stateUpdateResponse,
  ThreadSuperstepUpdate: superstepUpdate,
  ValidationError: responses.fieldProblemResponse,
};
