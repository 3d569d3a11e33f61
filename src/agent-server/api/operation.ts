import type { Clock } from '../../clock.ts';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import type { ServerInfo } from '../../contract/agent/server-info.ts';
import type { OpenApiDocument } from '../../http/openapi.ts';
import type { Operation } from '../../http/operation.ts';
import type { AssistantStore } from '../assistants/store.ts';
import type { AuthUser } from '../auth/agent-auth.ts';
import type { CronStore } from '../crons/store.ts';
import type { Graphs } from '../graphs/graphs.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { FindTask } from '../protocols/a2a/task-places.ts';
import type { Fetch } from '../protocols/own-api.ts';
import type { Runs } from '../runs/runs.ts';
import type { RunStore } from '../runs/store.ts';
import type { Items } from '../store/items.ts';
import type { OpenThreads } from '../threads/open.ts';
import type { DeleteThreads } from './thread-deletion.ts';
import type { Logger } from '../../logger.ts';

/** The parts of the server that operations use. */
export interface Parts extends OpenThreads {
  assistants: AssistantStore;
  runStore: RunStore;
  runs: Runs;
  crons: CronStore;
  graphs: Graphs;
  items: Items;
  info: ServerInfo;
  checkDatabase: () => Promise<void>;
  metrics: Metrics;
  findTask: FindTask;
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

/** The variables of every operation's context. */
export interface Env {
  Variables: {
    parts: Parts;
    /** The caller, where the agent authenticates callers. */
    authUser?: AuthUser;
  };
}

/** Defines an operation of the agent server. Its handler knows the parameters of the path. */
export const operation = <Path extends string>(definition: Operation<Env, Path>): Operation<Env> => definition;
