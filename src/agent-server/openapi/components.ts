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
import { nameSchemas } from '../../openapi/named-schemas.ts';
import { cronCreate, threadCronCreate } from './crons.ts';
import { bodyDefaults } from './defaults.ts';
import { rpcAnswer, rpcCall } from './protocols.ts';
import { runBatch, statefulRun, statelessRun } from './runs.ts';
import { info } from './system.ts';
import { pruned, threadCreation } from './threads.ts';
import * as told from './told.ts';

/** Every named schema; the public name where there is one. */
const named = {
  Assistant: told.toldAssistant,
  AssistantCountRequest: AssistantCount,
  AssistantCreate,
  AssistantPatch,
  AssistantSearchRequest: AssistantSearch,
  AssistantVersion: told.toldVersion,
  AssistantVersionChange,
  AssistantVersionsSearchRequest: AssistantVersionsSearch,
  CheckpointConfig: Checkpoint,
  Command,
  Config: RunConfigRequest,
  Cron: told.toldCron,
  CronCountRequest: CronCount,
  CronCreate: cronCreate,
  CronPatch,
  CronSearch,
  ErrorResponse: told.toldRefusal,
  GraphDrawing,
  GraphSchema: told.toldSchemas,
  GraphSchemaNoId: told.toldSchemasInside,
  Item: told.toldItem,
  ListNamespaceResponse: StoreNamespacesReply,
  Pruned: pruned,
  RpcAnswer: rpcAnswer,
  RpcCall: rpcCall,
  Run: told.toldRun,
  RunBatchCreate: runBatch,
  RunCreateStateful: statefulRun,
  RunCreateStateless: statelessRun,
  RunsCancel,
  SearchItemsResponse: told.toldItems,
  Send,
  ServerInfo: info,
  StoreDeleteRequest: StoreDelete,
  StoreListNamespacesRequest: StoreNamespaces,
  StorePutRequest: StorePut,
  StoreSearchRequest: StoreSearch,
  Subgraphs: told.toldSubgraphs,
  Thread: told.toldThread,
  ThreadCountRequest: ThreadCount,
  ThreadCreate: threadCreation,
  ThreadCronCreate: threadCronCreate,
  ThreadPatch,
  ThreadPruneRequest: ThreadPrune,
  ThreadSearchRequest: ThreadSearch,
  ThreadState: told.toldState,
  ThreadStateCheckpointRequest: ThreadStateCheckpoint,
  ThreadStateSearch: ThreadHistorySearch,
  ThreadStateUpdate,
  ThreadStateUpdateResponse: told.toldUpdate,
  ThreadSuperstepUpdate: SuperstepUpdate,
  ValidationError: told.toldFieldProblem,
};

/** How they are told, and how one that stands in an operation is. */
export const schemas = nameSchemas(named, bodyDefaults);
