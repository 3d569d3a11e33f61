import {
  tracedRunResponse,
  tracedRunsList,
  type TracedRunResponse,
} from '../../../contract/control/tracing-project.ts';
import { call } from '../../api/http.ts';

/** A page of the runs of a tracing project. */
export async function listRuns(
  projectId: string,
  query: Readonly<Record<string, string | number | undefined>>,
  signal: AbortSignal,
): Promise<readonly TracedRunResponse[]> {
  const path = `v1/projects/${encodeURIComponent(projectId)}/runs`;
  return (await call('GET', path, tracedRunsList, { query, signal })).resources;
}

/** A run with its input, output and steps. */
export const getRun = (projectId: string, runId: string, signal: AbortSignal): Promise<TracedRunResponse> =>
  call('GET', `v1/projects/${encodeURIComponent(projectId)}/runs/${encodeURIComponent(runId)}`, tracedRunResponse, {
    signal,
  });
