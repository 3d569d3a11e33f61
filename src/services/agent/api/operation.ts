import type { Clock } from '../../../kit/clock.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import type { ServerInfo } from '../../../contract/agent/service.ts';
import type { OpenApiDocument } from '../../../kit/http/openapi.ts';
import { byMethod, type Operation, type OperationDescription } from '../../../kit/http/operation.ts';
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
import * as z from 'zod';
import { readBody } from './body.ts';
import { setPageHeaders, type Page } from './pages.ts';
import { countResponse } from './response-schemas.ts';
import { Refusal } from '../refusal.ts';
import { matches } from '../auth/filters.ts';
import { callAuthHandler } from '../auth/call-auth-handler.ts';
import type { UiBundles } from '../ui/ui-bundles.ts';
import type { ThreadDeleter } from '../threads/deleter.ts';
import type { Upgrade } from './web-sockets.ts';

/** The dependencies of the server that operations use. */
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
    dependencies: AppDependencies;
    /** Whether the agent's code tells `1.0` from `1`, and has integers of any size. */
    keepsNumbers: boolean;
    /** The caller, where the agent authenticates callers. */
    authUser?: AuthUser;
    /** Whether no operation has the path. */
    isUnknown?: boolean;
  };
}

interface OperationDetails<Path extends string> extends Omit<Operation<Env, Path>, 'method' | 'path' | 'id' | 'tag'> {
  /** Errors beside those that its body, its query and its path have; `errors` names all instead. */
  also?: readonly number[];
}

/** Defines the operations of a group: their handlers know the parameters of the path. */
export function operationsOf(tag: string) {
  const define = byMethod(
    (method) =>
      <Path extends string>(path: Path, id: string, details: OperationDetails<Path>): Operation<Env> => {
        const { also = [], errors = [...usualErrors(path, details), ...also], ...others } = details;
        const operation: Operation<Env, Path> = { method, path, id, tag, errors, ...others };
        return operation;
      },
  );
  return {
    ...define,
    /** Lists a page of what the filters of the body find. */
    search<S extends z.ZodRawShape>(path: string, plural: string, schema: z.ZodObject<S>, search: Search<S>) {
      const filters = schema.strip();
      return define.post(path, `search_${plural}`, {
        summary: `Search ${plural}`,
        description: 'Newest first by default. `x-pagination-total` is the total number of matches.',
        body: { schema, required: false },
        responses: { 200: { description: `A page of ${plural}.`, schema: z.array(search.item) } },
        also: search.also ?? [],
        async handle(c) {
          const page = await search.find(c.var.dependencies, await readBody(c, filters));
          setPageHeaders(c, page);
          return c.json(page.items);
        },
      });
    },
    /** Counts what a search by the same filters finds. */
    count<S extends z.ZodRawShape>(path: string, plural: string, schema: z.ZodObject<S>, count: Find<S, number>) {
      const filters = schema.strip();
      return define.post(path, `count_${plural}`, {
        summary: `Count ${plural}`,
        description: 'Takes the filters of a search. The response is a bare integer.',
        body: { schema, required: false },
        responses: { 200: { description: 'The number of matches.', schema: countResponse } },
        also: [404],
        handle: async (c) => c.json(await count(c.var.dependencies, await readBody(c, filters))),
      });
    },
  };
}

type Find<S extends z.ZodRawShape, Found> = (
  dependencies: AppDependencies,
  filter: z.output<z.ZodObject<S>>,
) => Promise<Found>;

interface Search<S extends z.ZodRawShape> {
  item: z.ZodType;
  find: Find<S, Page>;
  also?: readonly number[];
}

const usualErrors = (path: string, { body, query }: Pick<OperationDescription, 'body' | 'query'>): number[] => [
  ...(body ? [400, 413, 422] : []),
  ...(query || uuidInPath.test(path) ? [422] : []),
  ...(path.includes(':') ? [404] : []),
];

const uuidInPath = /:(?:thread|run|cron|delivery|checkpoint)_id/;

interface ThreadToDelete {
  thread_id: string;
  metadata: FreeObject;
}

type DeleteThreads = (c: Context, threads: readonly ThreadToDelete[]) => Promise<void>;

/** Deletes threads as if the caller had requested each: all are checked before any is deleted, hidden ones skipped. */
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
