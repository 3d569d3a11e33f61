import type { Clock } from '../../../kit/clock.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import type { ServerInfo } from '../../../contract/agent/service.ts';
import type { OpenApiDocument } from '../../../kit/http/openapi.ts';
import type { Operation } from '../../../kit/http/operation.ts';
import type { AssistantStore } from '../assistants/store.ts';
import type { AuthUser, AgentAuth } from '../auth/agent-auth.ts';
import type { Deliveries } from '../webhooks/deliveries.ts';
import type { CronStore } from '../crons/store.ts';
import type { Graphs } from '../graphs/graphs.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { FindTask } from '../protocols/a2a/find-task.ts';
import type { Fetch } from '../protocols/internal-api.ts';
import type { ThreadEventStore } from '../protocols/thread-stream/store.ts';
import type { ThreadEventStreams } from '../protocols/thread-stream/thread-event-streams.ts';
import type { Runs } from '../runs/runs.ts';
import type { RunStore } from '../runs/store.ts';
import type { DeploymentStore } from '../store/search.ts';
import type { ThreadComponents } from '../threads/thread-components.ts';
import type { Logger } from '../../../kit/logger.ts';
import type { Context } from 'hono';
import { Refusal } from '../refusal.ts';
import { matches } from '../auth/filters.ts';
import { callAuthHandler } from '../auth/call-auth-handler.ts';
import type { UiBundles } from '../ui/ui-bundles.ts';
import type { ThreadDeleter } from '../threads/deleter.ts';
import type { Upgrade } from './web-sockets.ts';

/** The parts of the server that operations use. */
export interface AppDependencies extends ThreadComponents {
  assistants: AssistantStore;
  runStore: RunStore;
  runs: Runs;
  crons: CronStore;
  deliveries: Deliveries;
  graphs: Graphs;
  store: DeploymentStore;
  ui: UiBundles;
  info: ServerInfo;
  checkDatabase: () => Promise<void>;
  metrics: Metrics;
  findTask: FindTask;
  /** The events of the thread-stream protocol. */
  threadEvents: { store: ThreadEventStore; streams: ThreadEventStreams };
  clock: Clock;
  log: Logger;
  /** Maps a request's headers to the `configurable` of its runs. */
  headersForRuns: (headers: Headers) => FreeObject;
  deleteThreads: DeleteThreads;
  /** The OpenAPI document, as the configuration has it. */
  describe: () => Promise<OpenApiDocument>;
  /** The server's own operations, without the middleware in front of them. */
  fetch: Fetch;
  /** The mount prefix of the server's public paths. */
  mountPrefix: string | undefined;
}

/** The bindings and variables of every operation's context. */
export interface Env {
  Bindings: {
    /** Present where the request asks for a WebSocket. */
    upgrade?: Upgrade | undefined;
  };
  Variables: {
    parts: AppDependencies;
    /** Whether the agent's code tells `1.0` from `1`, and has integers of any size. */
    keepsNumbers: boolean;
    /** The caller, where the agent authenticates callers. */
    authUser?: AuthUser;
    /** Whether no operation has the path. */
    isUnknown?: boolean;
  };
}

/** Defines an operation of the agent server. Its handler knows the parameters of the path. */
export const operation = <Path extends string>(definition: Operation<Env, Path>): Operation<Env> => definition;

/** A thread to delete, with what authorization needs. */
interface ThreadToDelete {
  thread_id: string;
  metadata: FreeObject;
}

/** Deletes threads with their runs on behalf of a caller. */
type DeleteThreads = (c: Context, threads: readonly ThreadToDelete[]) => Promise<void>;

/**
 * Deletes dependent threads as if the caller had requested each: with authorization rules, every thread is checked
 * before any is deleted, and hidden ones are skipped.
 */
export function threadDeletion(auth: AgentAuth | undefined, deleter: Pick<ThreadDeleter, 'delete'>): DeleteThreads {
  return async (c, threads) => {
    const going: ThreadToDelete[] = [];
    for (const thread of threads) if (!auth || (await mayDelete(auth, c, thread))) going.push(thread);
    for (const { thread_id } of going) await deleter.delete(thread_id);
  };
}

async function mayDelete(auth: AgentAuth, c: Context, { thread_id, metadata }: ThreadToDelete): Promise<boolean> {
  const user = c.get('authUser');
  if (user === undefined) throw new Refusal(401, 'Unauthorized');
  const wanted = await callAuthHandler({ auth, user }, 'threads', 'delete', { thread_id });
  return wanted === undefined || matches(metadata, wanted);
}
