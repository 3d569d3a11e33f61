import * as z from 'zod';
import { threadState } from '../../../../contract/agent/thread.ts';
import type { getTreeParams, listCheckpointsParams, stateGetParams } from '../../../../contract/agent/thread-stream.ts';
import { isObject } from '../../../../kit/json-object.ts';
import { namespaceSeparator } from '../../../../contract/agent/stream-event.ts';
import { isUuid } from '../../../../kit/uuid.ts';
import { CommandRefusal, type CommandContext } from './command.ts';
import type { NamespaceStatus } from './store.ts';

export async function readState(
  { keys }: z.infer<typeof stateGetParams>,
  { api, threadId }: CommandContext,
): Promise<object> {
  const state = await api.read(threadState, 'GET', `/threads/${threadId}/state?subgraphs=true`, {
    keepsNumbers: true,
  });
  const { checkpoint, values } = state;
  const { checkpoint_id: id, checkpoint_ns: ns } = checkpoint ?? {};
  return {
    values:
      keys === undefined || !isObject(values)
        ? values
        : Object.fromEntries(Object.entries(values).filter(([key]) => keys.includes(key))),
    ...(typeof id === 'string' ? { checkpoint: { id, ...(typeof ns === 'string' ? { ns } : {}) } } : {}),
  };
}

/** The states of a thread or of a subgraph, newest first. */
export async function listCheckpoints(
  { namespace = [], limit, before }: z.infer<typeof listCheckpointsParams>,
  { api, threadId }: CommandContext,
): Promise<object> {
  const states = await api.read(z.array(threadState), 'POST', `/threads/${threadId}/history`, {
    keepsNumbers: true,
    body: {
      limit,
      before: before === undefined ? undefined : { checkpoint_id: before },
      checkpoint: namespace.length === 0 ? undefined : { checkpoint_ns: namespace.join(namespaceSeparator) },
    },
  });
  return {
    checkpoints: states.map(({ checkpoint, created_at, metadata }) => ({
      id: checkpoint?.checkpoint_id,
      timestamp: created_at,
      step: metadata?.['step'],
      metadata,
    })),
  };
}

interface TreeNode {
  namespace: string[];
  status: string;
  graph_name: string;
  children?: TreeNode[];
}

export async function readTree({ run_id }: z.infer<typeof getTreeParams>, context: CommandContext): Promise<object> {
  const { api, store, threadId } = context;
  await api.ask('GET', `/threads/${threadId}`);
  const statuses = run_id === undefined || isUuid(run_id) ? await store.statuses(threadId, run_id) : [];
  const root = statuses.find(({ namespace }) => namespace.length === 0);
  if (!root) throw new CommandRefusal('no_such_run', 'This thread has no run with events. Start one with run.start.');
  return { tree: treeBelow(root, statuses) };
}

/** The tree of a run's subgraphs. */
export function treeBelow(node: NamespaceStatus, all: readonly NamespaceStatus[]): TreeNode {
  const { namespace, status, graphName } = node;
  const children = all
    .filter(
      (each) => each.namespace.length === namespace.length + 1 && namespace.every((s, at) => each.namespace[at] === s),
    )
    .map((child) => treeBelow(child, all));
  const own = namespace.at(-1)?.split(':')[0];
  return {
    namespace,
    status,
    graph_name: graphName ?? own ?? 'root',
    ...(children.length > 0 ? { children } : {}),
  };
}
