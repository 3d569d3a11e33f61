import type { Run } from '../../../contract/agent/run.ts';
import { isObject } from '../../../kit/json-object.ts';
import { inputPreview } from '../../../contract/agent/run-preview.ts';
import type { TracedRunResponse } from '../../../contract/control/tracing-project.ts';
import type { RunFilter } from './run-filter.ts';

/** A run of the list. A run in progress has no end yet. */
export interface ListedRun extends Pick<TracedRunResponse, ListedField> {
  ended_at: string | null;
}
type ListedField =
  | 'id'
  | 'thread_id'
  | 'assistant_id'
  | 'graph_id'
  | 'revision_id'
  | 'status'
  | 'error'
  | 'tokens'
  | 'created_at'
  | 'started_at'
  | 'trigger'
  | 'input_preview'
  | 'output_preview';

/** A run in progress as a row of the list. */
export function toListedRun({ run_id, metadata, kwargs, ...run }: Run): ListedRun {
  const started: unknown = run['run_started_at'];
  const graphId: unknown = metadata?.['graph_id'];
  return {
    id: run_id,
    thread_id: run.thread_id,
    assistant_id: run.assistant_id,
    graph_id: typeof graphId === 'string' ? graphId : run.assistant_id,
    revision_id: null,
    status: run.status,
    error: null,
    tokens: null,
    created_at: run.created_at,
    started_at: typeof started === 'string' ? started : null,
    ended_at: null,
    trigger: triggerOf(metadata ?? {}),
    input_preview: inputPreview(inputOf(kwargs ?? {})),
  };
}

const inputOf = ({ input, command }: Record<string, unknown>): unknown =>
  input ?? (isObject(command) ? command['resume'] : undefined);

function triggerOf(metadata: Record<string, unknown>): string {
  const trigger = metadata['landfall_trigger'];
  return 'cron_id' in metadata ? 'cron' : typeof trigger === 'string' ? trigger : 'api';
}

/** Statuses without a live agent (502, 503, 504), or from one whose rules or version list no runs to this reader. */
const statusesWithoutRuns: readonly number[] = [403, 404, 405, 501, 502, 503, 504];

/** Whether an error response to the list of runs in progress means that none can be shown. */
export const showsNoLiveRuns = (status: number): boolean => statusesWithoutRuns.includes(status);

/** The statuses of runs in progress. */
export const liveStatuses = ['running', 'pending'] as const;
const isLiveStatus = (status: string): boolean => liveStatuses.some((live) => live === status);

/** Whether a filter can match a run in progress: it has no end and no error yet. */
export const mayBeLive = ({ status, time, error }: RunFilter): boolean =>
  time === '' && error.trim() === '' && (status === '' || isLiveStatus(status));

/** Whether a filter matches only runs in progress. */
export const isLiveOnly = ({ status }: RunFilter): boolean => isLiveStatus(status);

/** The runs in progress that match a filter, running ones before pending ones. */
export const matchingLive = (runs: readonly ListedRun[], { status, assistant, thread }: RunFilter): ListedRun[] =>
  runs
    .filter((run) => status === '' || run.status === status)
    .filter((run) => assistant === '' || run.assistant_id === assistant)
    .filter((run) => thread.trim() === '' || run.thread_id === thread.trim().toLowerCase())
    .toSorted((one, other) => Number(other.status === 'running') - Number(one.status === 'running'));

/** The rows of the list, runs in progress first. A run that has just ended is listed once, as ended. */
export function joinRuns(live: readonly ListedRun[], ended: readonly ListedRun[]): ListedRun[] {
  const endedIds = new Set(ended.map(({ id }) => id));
  return [...live.filter(({ id }) => !endedIds.has(id)), ...ended];
}
