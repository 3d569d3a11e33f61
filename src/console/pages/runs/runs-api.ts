import * as z from 'zod';
import type { Assistant } from '../../../contract/agent/assistant.ts';
import {
  tracedRunResponse,
  tracedRunsList,
  type TracedRunResponse,
} from '../../../contract/control/tracing-project.ts';
import { runSchema } from '../../../contract/agent/run.ts';
import { agentPath } from '../../api/agent-access.ts';
import { ApiError, call } from '../../api/http.ts';
import { searchAssistants } from '../assistants/assistants-api.ts';
import { showsNoLiveRuns, toListedRun, type ListedRun } from './live-runs.ts';

/** A page of the runs of a tracing project. */
export async function listRuns(
  projectId: string,
  query: Readonly<Record<string, string | number | undefined>>,
  signal: AbortSignal,
): Promise<readonly TracedRunResponse[]> {
  const path = `v1/projects/${encodeURIComponent(projectId)}/runs`;
  return (await call('GET', path, tracedRunsList, { query, signal })).resources;
}

/**
 * The runs of a deployment's agent that are in progress. Empty if no agent responds, or if it does not permit or
 * support listing them. @throws ApiError for any other failure, after which it is unknown whether there are runs.
 */
export async function listLiveRuns(deploymentId: string, signal: AbortSignal): Promise<ListedRun[]> {
  try {
    const path = agentPath(deploymentId, 'runs');
    return (await call('GET', path, z.array(runSchema), { query: { limit: 100 }, signal })).map(toListedRun);
  } catch (error) {
    if (error instanceof ApiError && showsNoLiveRuns(error.status)) return [];
    throw error;
  }
}

/** The assistants of a deployment's agent, by their names. */
export const listAssistants = (deploymentId: string, signal: AbortSignal): Promise<Assistant[]> =>
  searchAssistants(deploymentId, { limit: 100, sort_by: 'name', sort_order: 'asc' }, signal);

/** A run with its input, output and steps. */
export const getRun = (projectId: string, runId: string, signal: AbortSignal): Promise<TracedRunResponse> =>
  call('GET', `v1/projects/${encodeURIComponent(projectId)}/runs/${encodeURIComponent(runId)}`, tracedRunResponse, {
    signal,
  });
