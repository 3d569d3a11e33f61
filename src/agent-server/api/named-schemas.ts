import {
  AssistantCount,
  AssistantCreate,
  AssistantPatch,
  AssistantSearch,
  AssistantVersionChange,
  AssistantVersionsSearch,
  GraphDrawing,
} from '../../contract/agent/assistant.ts';
import { RunConfigRequest } from '../../contract/agent/config.ts';
import { CronCount, CronPatch, CronSearch } from '../../contract/agent/cron.ts';
import { Command, RunsCancel, Send } from '../../contract/agent/run.ts';
import {
  StoreDelete,
  StoreNamespaces,
  StoreNamespacesReply,
  StorePut,
  StoreSearch,
} from '../../contract/agent/store-item.ts';
import { SuperstepUpdate } from '../../contract/agent/superstep.ts';
import {
  Checkpoint,
  ThreadCount,
  ThreadHistorySearch,
  ThreadPatch,
  ThreadPrune,
  ThreadSearch,
  ThreadStateCheckpoint,
  ThreadStateUpdate,
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
  AssistantCountRequest: AssistantCount,
  AssistantCreate,
  AssistantPatch,
  AssistantSearchRequest: AssistantSearch,
  AssistantVersion: responses.assistantVersionResponse,
  AssistantVersionChange,
  AssistantVersionsSearchRequest: AssistantVersionsSearch,
  CheckpointConfig: Checkpoint,
  Command,
  Config: RunConfigRequest,
  Cron: responses.cronResponse,
  CronCountRequest: CronCount,
  CronCreate: cronCreate,
  CronPatch,
  CronSearch,
  ErrorResponse: responses.validationErrorResponse,
  GraphDrawing,
  GraphSchema: responses.graphSchemasResponse,
  GraphSchemaNoId: responses.subgraphSchemasResponse,
  Item: responses.storeItemResponse,
  ListNamespaceResponse: StoreNamespacesReply,
  Pruned: pruned,
  RpcAnswer: rpcAnswer,
  RpcCall: rpcCall,
  Run: responses.runResponse,
  RunBatchCreate: runBatch,
  RunCreateStateful: statefulRun,
  RunCreateStateless: statelessRun,
  RunsCancel,
  SearchItemsResponse: responses.storeItemsResponse,
  Send,
  ServerInfo: info,
  StoreDeleteRequest: StoreDelete,
  StoreListNamespacesRequest: StoreNamespaces,
  StorePutRequest: StorePut,
  StoreSearchRequest: StoreSearch,
  Subgraphs: responses.subgraphsResponse,
  Thread: responses.threadResponse,
  ThreadCountRequest: ThreadCount,
  ThreadCreate: threadCreation,
  ThreadCronCreate: threadCronCreate,
  ThreadPatch,
  ThreadPruneRequest: ThreadPrune,
  ThreadSearchRequest: ThreadSearch,
  ThreadState: responses.threadStateResponse,
  ThreadStateCheckpointRequest: ThreadStateCheckpoint,
  ThreadStateSearch: ThreadHistorySearch,
  ThreadStateUpdate,
  ThreadStateUpdateResponse: responses.stateUpdateResponse,
  ThreadSuperstepUpdate: SuperstepUpdate,
  ValidationError: responses.fieldProblemResponse,
};
