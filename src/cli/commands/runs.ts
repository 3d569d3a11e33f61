import { finalRunStatuses } from '../../contract/agent/run.ts';
import type { TracedRunResponse } from '../../contract/control/tracing-project.ts';
import { durationText } from '../../deploy/words/verdict-table/words.ts';
import { CommandRefused, type ExitCode } from '../problems.ts';
import type { Terminal } from '../terminal.ts';
import { defaultLimit } from './option-values.ts';
import { type Invocation, printList, withDeployment } from './service-session.ts';
import { ageText, type Column } from './text-table.ts';

/** The statuses of `--status`. */
export const runStatuses: readonly string[] = finalRunStatuses;

/** The fields of `landfall runs`. */
export const runColumns: readonly Column<TracedRunResponse>[] = [
  { field: 'id', heading: 'RUN', value: ({ id }) => id },
  { field: 'status', heading: 'STATUS', value: ({ status }) => status },
  { field: 'graph', heading: 'GRAPH', value: ({ graph_id }) => graph_id, leftOut: 3 },
  { field: 'trigger', heading: 'BY', value: ({ trigger }) => trigger ?? null, leftOut: 4 },
  {
    field: 'duration_ms',
    heading: 'TOOK',
    value: durationOf,
    text: (run) => (durationOf(run) === null ? '' : durationText(durationOf(run) ?? 0)),
    leftOut: 2,
  },
  { field: 'tokens', heading: 'TOKENS', value: ({ tokens }) => tokens?.total ?? null, leftOut: 1 },
  {
    field: 'ended_at',
    heading: 'ENDED',
    value: ({ ended_at }) => ended_at,
    text: (run, now) => ageText(run.ended_at, now),
    leftOut: 6,
  },
  { field: 'thread_id', value: ({ thread_id }) => thread_id },
  { field: 'revision_id', value: ({ revision_id }) => revision_id },
  { field: 'error', value: ({ error }) => (error === null ? null : `${error.error}: ${error.message}`) },
  { field: 'input', value: ({ input_preview }) => input_preview ?? null },
  {
    field: 'output',
    heading: 'OUTPUT',
    value: ({ output_preview }) => output_preview ?? null,
    text: ({ output_preview, error }) => (error === null ? (output_preview ?? '') : `${error.error}: ${error.message}`),
    isCut: true,
    leftOut: 5,
  },
];

/** Lists the ended runs of a deployment, newest first. */
export function listRuns(invocation: Invocation, terminal: Terminal): Promise<ExitCode> {
  const { limit = defaultLimit, status, thread } = invocation.options;
  return withDeployment(invocation, terminal, async ({ overview }, { name, tracer_session_id: projectId }) => {
    const requested = { limit: Number(limit), status, thread_id: thread };
    const rows = projectId ? await overview.runs(projectId, requested) : undefined;
    if (rows === undefined) {
      throw new CommandRefused(
        'The service does not list runs.',
        `landfall threads ${name} lists what the agent itself keeps of them.`,
      );
    }
    const none = `Deployment ${name} has no ended run${status || thread ? ' of these' : ''}.`;
    return printList({ name: 'runs', columns: runColumns, none }, rows, terminal);
  });
}

function durationOf({ started_at, ended_at }: TracedRunResponse): number | null {
  const ms = started_at === null ? NaN : Date.parse(ended_at) - Date.parse(started_at);
  return Number.isNaN(ms) ? null : ms;
}
