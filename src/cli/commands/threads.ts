import { outputPreview } from '../../contract/agent/run-preview.ts';
import { type Thread, threadStatuses } from '../../contract/agent/thread.ts';
import type { ExitCode } from '../problems.ts';
import type { Terminal } from '../terminal.ts';
import { defaultLimit } from './option-values.ts';
import { type Invocation, printList, withDeployment } from './service-session.ts';
import { ageText, type Column } from './text-table.ts';

/** The fields of `landfall threads`. */
export const threadColumns: readonly Column<Thread>[] = [
  { field: 'id', heading: 'THREAD', value: ({ thread_id }) => thread_id },
  { field: 'status', heading: 'STATUS', value: ({ status }) => status },
  {
    field: 'updated_at',
    heading: 'CHANGED',
    value: ({ updated_at }) => updated_at,
    text: ({ updated_at }, now) => ageText(updated_at, now),
    leftOut: 2,
  },
  { field: 'created_at', value: ({ created_at }) => created_at },
  {
    field: 'last',
    heading: 'LAST',
    value: ({ values }) => outputPreview(values) ?? null,
    isCut: true,
    leftOut: 1,
  },
];

/** Lists the threads of a deployment's agent, the one that changed last first. */
export function listThreads(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const { limit = defaultLimit, status } = invocation.options;
  return withDeployment(invocation, terminal, async ({ agentOf, signal }, deployment) => {
    const agent = await agentOf(deployment);
    const ofStatus = threadStatuses.find((word) => word === status);
    const rows = await agent.searchThreads(
      {
        limit: Number(limit),
        sort_by: 'updated_at',
        sort_order: 'desc',
        ...(ofStatus === undefined ? {} : { status: ofStatus }),
      },
      { signal },
    );
    const none = `The agent of ${deployment.name} keeps no thread. landfall ask makes one.`;
    return printList({ name: 'threads', columns: threadColumns, none }, rows, terminal);
  });
}
