import {
  deploymentSummariesQuery,
  type ActivityCount,
  type DeploymentState,
  type DeploymentSummaries,
  type DeploymentSummary,
} from '../../../contract/control/deployment-summary.ts';
import { commitOf } from '../revisions/history.ts';
import { Call } from '../service/call.ts';
import type { ServiceDependencies } from '../service/settings.ts';
import { defaultPageSize } from './queries.ts';
import { agentUrl } from './response.ts';
import type { SummaryRow } from './summary-repository.ts';
import { classOfRevisionStatus, type RevisionStatus } from '../../../contract/control/revision-status.ts';
import type { DeletionState } from './status.ts';

/** The facts behind a deployment's state. */
export interface StateFacts {
  deletion: DeletionState;
  latest: RevisionStatus | null;
  isLive: boolean;
  /** Whether its source is to be uploaded, and nothing was yet. */
  isWithoutSource: boolean;
}

/**
 * The state of a deployment in one word. Its latest revision decides where that is in progress or failed; one that was
 * interrupted or skipped changes nothing.
 */
export function deploymentState({ deletion, latest, isLive, isWithoutSource }: StateFacts): DeploymentState {
  if (deletion !== 'none') return 'deleting';
  if (isWithoutSource && !isLive) return 'no-source';
  const of = latest === null ? 'unknown' : classOfRevisionStatus(latest);
  if (of === 'in-progress') return 'deploying';
  if (of === 'failed') return 'failed';
  return isLive ? 'live' : 'not-deployed';
}

/** Deployments as a list of many shows them, in a fixed number of statements: an addition of ours. */
export function summaryOperations({ store, tenantId, baseUrl }: ServiceDependencies) {
  /** Those with the most of a count first; equal ones stay in their order. */
  async function mostFirst<T extends { id: string }>(deployments: readonly T[], count: ActivityCount): Promise<T[]> {
    const activity = await store.recentActivity(deployments.map(({ id }) => id));
    const total = ({ id }: T): number => (activity.get(id)?.[count] ?? []).reduce((sum, each) => sum + each, 0);
    const totals = new Map(deployments.map((deployment) => [deployment, total(deployment)]));
    return deployments.toSorted((one, other) => (totals.get(other) ?? 0) - (totals.get(one) ?? 0));
  }

  return {
    async listDeploymentSummaries(query: unknown): Promise<DeploymentSummaries> {
      const call = new Call('list deployment summaries', 'GET', '/v2/deployment-summaries');
      const page = call.query(deploymentSummariesQuery, query);
      const { limit = defaultPageSize, offset = 0, name_contains, state: wanted, sort = 'name' } = page;
      const matching = (await store.listStates(tenantId, name_contains))
        .map(({ id, deletion, latest, active_revision_id, isWithoutSource }) => ({
          id,
          state: deploymentState({ deletion, latest, isLive: active_revision_id !== null, isWithoutSource }),
        }))
        .filter(({ state }) => wanted === undefined || state === wanted);
      const sorted = sort === 'name' ? matching : await mostFirst(matching, sort);
      const shown = sorted.slice(offset, offset + limit);
      const ids = shown.map(({ id }) => id);
      const rows = new Map((await store.summariesOf(tenantId, ids)).map((row) => [row.id, row]));
      const activity = await store.recentActivity(ids);
      const resources = shown.flatMap(({ id, state }) => {
        // One that was deleted meanwhile has no row.
        const [row, recent] = [rows.get(id), activity.get(id)];
        return row && recent ? [toSummary(row, state, recent, baseUrl())] : [];
      });
      return { resources, offset: offset + shown.length, total: matching.length };
    },
  };
}

function toSummary(row: SummaryRow, state: DeploymentState, activity: DeploymentSummary['activity'], baseUrl: string) {
  const { id, name, source, latest_revision_id, active_revision_id, at, actor, key_name, operation, verdict } = row;
  return {
    id,
    name,
    source,
    state,
    url: agentUrl(row, baseUrl),
    latest_revision_id,
    active_revision_id,
    live_commit: commitOf(row),
    last_change:
      at === null || actor === null || operation === null ? null : { at: at.toISOString(), actor, key_name, operation },
    verdict,
    activity,
  };
}
