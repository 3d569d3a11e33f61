import {
  revisionHistoryQuery,
  type Commit,
  type HistoryEntry,
  type RevisionHistory,
} from '../../../contract/control/revision-history.ts';
import { toRevisionResponse } from '../deployments/response.ts';
import { changedFields } from '../deployments/validation/patch.ts';
import { checkRedeploy } from '../deployments/validation/redeploy.ts';
import { Call } from '../service/call.ts';
import type { ServiceDependencies } from '../service/settings.ts';
import type { DeploymentRecord, RevisionEvent, RevisionRecord } from '../store/tables.ts';
import type { VerdictRecord } from '../smoke-tests/repository.ts';
import { toVerdictResponse } from '../smoke-tests/service.ts';
import type { RevisionWithBefore } from './history-repository.ts';
import { tenantFinders } from '../service/tenant-finders.ts';

/** Lists the revisions of a deployment with all that a timeline shows (an extension of the public API). */
export function historyOperations(settings: ServiceDependencies) {
  const { store, baseUrl } = settings;
  const { ownDeployment } = tenantFinders(settings);
  return {
    async listRevisionHistory(id: string, query: unknown): Promise<RevisionHistory> {
      const call = new Call('list revision history', 'GET', `/v2/deployments/${id}/revision-history`);
      const page = call.query(revisionHistoryQuery, query);
      const deployment = await ownDeployment(call, id);
      const found = await store.listHistory(deployment.id, page);
      const ids = found.map(({ revision }) => revision.id);
      const [events, verdicts] = [await store.eventsOfAll(ids), await store.latestVerdicts(ids)];
      const eventsOf = Map.groupBy(events, ({ revision_id }) => revision_id);
      const verdictOf = new Map(verdicts.map((verdict) => [verdict.revision_id, verdict]));
      const resources = found.map((entry) =>
        toHistoryEntry(deployment, entry, baseUrl(), {
          events: eventsOf.get(entry.revision.id) ?? [],
          verdict: verdictOf.get(entry.revision.id),
        }),
      );
      return { resources, offset: (page.offset ?? 0) + resources.length };
    },
  };
}

function toHistoryEntry(
  deployment: DeploymentRecord,
  { revision, before }: RevisionWithBefore,
  baseUrl: string,
  { events, verdict }: { events: readonly RevisionEvent[]; verdict: VerdictRecord | undefined },
): HistoryEntry {
  return {
    revision: toRevisionResponse(revision, baseUrl),
    cause: {
      kind: revision.cause,
      actor: revision.cause_actor,
      key_id: revision.cause_key_id,
      key_name: revision.cause_key_name,
      redeploy_of: revision.redeploy_of,
    },
    commit: commitOf(revision),
    statuses: events.map(({ status, message, at }) => ({ status, message, at: at.toISOString() })),
    changed_fields: before === undefined ? [] : changedFields(before, revision),
    verdict: verdict === undefined ? null : toVerdictResponse(verdict),
    is_live: deployment.active_revision_id === revision.id,
    can_redeploy: deployment.deletion === 'none' && checkRedeploy(deployment, revision).ok,
  };
}

type CommitColumns = Pick<
  RevisionRecord,
  'repo_commit_sha' | 'commit_subject' | 'commit_author' | 'commit_authored_at'
>;

/** Serializes the commit of a revision; null where it has none. */
export function commitOf({
  repo_commit_sha,
  commit_subject,
  commit_author,
  commit_authored_at,
}: CommitColumns): Commit | null {
  if (repo_commit_sha === null) return null;
  return {
    sha: repo_commit_sha,
    subject: commit_subject,
    author: commit_author,
    authored_at: commit_authored_at?.toISOString() ?? null,
  };
}
