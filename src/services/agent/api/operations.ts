import type { Operation } from '../../../kit/http/operation.ts';
import { assistantGraphOperations } from '../assistants/graph-operations.ts';
import { assistantOperations } from '../assistants/operations.ts';
import { cronOperations } from '../crons/operations.ts';
import { protocolOperations } from '../protocols/operations.ts';
import { runOperations } from '../runs/operations.ts';
import { runStartOperations } from '../runs/start-operations.ts';
import { storeOperations } from '../store/operations.ts';
import { threadStreamOperations } from '../protocols/thread-stream/operations.ts';
import { threadOperations } from '../threads/operations.ts';
import { threadStateOperations } from '../threads/state-operations.ts';
import { uiOperations } from '../ui/operations.ts';
import { webhookOperations } from '../webhooks/operations.ts';
import type { Env } from './operation.ts';
import { systemOperations } from './system-operations.ts';

const all: readonly Operation<Env>[] = [
  ...assistantOperations,
  ...assistantGraphOperations,
  ...threadOperations,
  ...threadStateOperations,
  ...runOperations,
  ...runStartOperations,
  ...cronOperations,
  ...storeOperations,
  ...protocolOperations,
  ...threadStreamOperations,
  ...webhookOperations,
  ...uiOperations,
  ...systemOperations,
];

/** The specification spells the paths of runs on a thread in both ways. */
const otherSpelling = (path: string): string[] =>
  path.startsWith('/threads/:thread_id/runs') ? [path.replace('/threads/', '/thread/')] : [];

/** Every operation of the agent server: the routes that are served, and the OpenAPI document. */
export const operations: readonly Operation<Env>[] = all.map((operation) => ({
  ...operation,
  aliases: [...(operation.aliases ?? []), ...otherSpelling(operation.path)],
}));
