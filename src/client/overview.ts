import { deploymentSummaries, type DeploymentSummary } from '../contract/control/deployment-summary.ts';
import { revisionHistory, type HistoryEntry } from '../contract/control/revision-history.ts';
import { tracedRunsList, type TracedRunResponse } from '../contract/control/tracing-project.ts';
import { ifFound } from '../contract/service-error.ts';
import { call, query, segment } from './call.ts';
import { connection } from './connection.ts';
import type { ControlServiceSettings } from './control.ts';
import { type Reader, readJson } from './response-readers.ts';

/** The longest page of summaries. */
const maxSummaries = 1_000;

/** The runs to list: those of one status or thread, or all. */
export interface RunsQuery {
  limit: number;
  status?: string | undefined;
  thread_id?: string | undefined;
}

/** What the pages of a service show, beyond the contract: undefined where it does not offer this. */
export interface ControlOverview {
  /** GET /v2/deployment-summaries: every deployment, by name. */
  summaries(): Promise<DeploymentSummary[] | undefined>;
  /** GET /v2/deployments/{id}/revision-history: newest first. */
  history(deploymentId: string, limit: number): Promise<HistoryEntry[] | undefined>;
  /** GET /v1/projects/{id}/runs: the ended runs of a tracing project, newest first. */
  runs(projectId: string, requested: RunsQuery): Promise<TracedRunResponse[] | undefined>;
  /** Ends the connections. */
  close(): Promise<void>;
}

/** Connects to the overview of a control service. */
export function connectOverview(settings: Omit<ControlServiceSettings, 'spelling'>): ControlOverview {
  const link = connection(settings.baseUrl, settings);
  const get = <T>(
    name: string,
    path: string,
    queried: Readonly<Record<string, string | number | undefined>>,
    read: Reader<T>,
  ): Promise<T | undefined> => ifFound(call(link, { name, method: 'GET', path, query: query(queried) }, read));
  return {
    summaries: async () => {
      const all: DeploymentSummary[] = [];
      for (;;) {
        const page = await get(
          'list deployment summaries',
          '/v2/deployment-summaries',
          { limit: maxSummaries, offset: all.length },
          readJson(deploymentSummaries),
        );
        if (page === undefined) return undefined;
        all.push(...page.resources);
        if (page.resources.length < maxSummaries) return all;
      }
    },
    history: async (deploymentId, limit) => {
      const path = `/v2/deployments/${segment('the deployment id', deploymentId)}/revision-history`;
      return (await get('read revision history', path, { limit }, readJson(revisionHistory)))?.resources;
    },
    runs: async (projectId, { limit, status, thread_id }) => {
      const path = `/v1/projects/${segment('the project id', projectId)}/runs`;
      return (await get('list runs', path, { limit, status, thread_id }, readJson(tracedRunsList)))?.resources;
    },
    close: () => link.close(),
  };
}
