import { systemClock } from '../../../kit/clock.ts';
import type { LogPage } from '../../../contract/control/log.ts';
import { changeNotifier } from './change-notifier.ts';
import { followLog, isFullyRead, whileAdmitted } from './follow-log.ts';
import {
  followQuery,
  lastEvent,
  lastEventHeader,
  logByQuery,
  logOfQuery,
  logPageQuery,
} from '../validation/queries.ts';
import { hasEnded } from '../revisions/states.ts';
import { readShape } from '../validation/shape.ts';
import type { LogPageQuery } from './repository.ts';
import type { LogKind } from '../store/tables.ts';
import { toLogResponse } from '../deployments/response.ts';
import { tenantFinders } from '../service/tenant-finders.ts';
import { Call } from '../service/call.ts';
import type { ServiceDependencies } from '../service/settings.ts';

/** The follower of a log: where it begins, and when it ends. */
export interface FollowOptions {
  /** Aborts when the follower has disconnected. */
  signal: AbortSignal;
  /** The id of the last line that the follower received before its connection broke. */
  lastId?: string | undefined;
  /** Whether the follower is still admitted; once it is not, the stream ends. */
  isAdmitted: () => Promise<boolean>;
}

/** The logs of revisions: in pages, or followed as they are written. */
export function logOperations(settings: ServiceDependencies) {
  const { store, logNotifier = changeNotifier(), clock = systemClock } = settings;
  const { ownDeployment, ownRevision } = tenantFinders(settings);

  async function readRevisionLog(call: Call, [id, revisionId]: [string, string], kind: LogKind, page: LogPageQuery) {
    const revision = await ownRevision(call, id, revisionId);
    const mayGrow = page.order === 'asc' && !hasEnded(revision.status);
    return toLogResponse(await store.readLog([revision.id], kind, page), { limit: page.limit, mayGrow });
  }

  async function readDeploymentLog(call: Call, id: string, kind: LogKind, page: LogPageQuery): Promise<LogPage> {
    const deployment = await ownDeployment(call, id);
    return toLogResponse(await store.readLogOfAll(deployment.id, kind, page), { limit: page.limit, mayGrow: false });
  }

  const postedPage =
    (kind: LogKind) =>
    async (id: string, revisionId: string, body: unknown): Promise<LogPage> => {
      const call = new Call(`read ${kind} log`, 'POST', `/v1/projects/${id}/revisions/${revisionId}/${kind}_logs`);
      return readRevisionLog(call, [id, revisionId], kind, call.value(readShape(logPageQuery, body ?? {}, 'body')));
    };

  return {
    buildLogs: postedPage('build'),
    deployLogs: postedPage('deploy'),

    /** POST /v1/projects/{id}/deploy_logs: the deploy logs of all revisions as one. */
    async deployLogsOfAll(id: string, body: unknown): Promise<LogPage> {
      const call = new Call('read deploy logs', 'POST', `/v1/projects/${id}/deploy_logs`);
      return readDeploymentLog(call, id, 'deploy', call.value(readShape(logPageQuery, body ?? {}, 'body')));
    },

    /** GET /v2/deployments/{id}/logs: `kind` says which logs. */
    async deploymentLogs(id: string, query: unknown): Promise<LogPage> {
      const call = new Call('read logs', 'GET', `/v2/deployments/${id}/logs`);
      const { logKind, page } = call.query(logByQuery, query);
      return readDeploymentLog(call, id, logKind, page);
    },

    /** GET /v2/deployments/{id}/revisions/{revisionId}/logs: `kind` says which log. */
    async revisionLogs(id: string, revisionId: string, query: unknown): Promise<LogPage> {
      const call = new Call('read log', 'GET', `/v2/deployments/${id}/revisions/${revisionId}/logs`);
      const { logKind, page } = call.query(logByQuery, query);
      return readRevisionLog(call, [id, revisionId], logKind, page);
    },

    /** GET /v2/deployment-logs: the same, with the ids in the query. */
    async logsByQuery(query: unknown): Promise<LogPage> {
      const call = new Call('read logs', 'GET', '/v2/deployment-logs');
      const { deployment_id, revision_id, logKind, page } = call.query(logOfQuery, query);
      return revision_id === undefined
        ? readDeploymentLog(call, deployment_id, logKind, page)
        : readRevisionLog(call, [deployment_id, revision_id], logKind, page);
    },

    /**
     * GET .../logs/stream: the log as it is written, until it is complete. Throws errors before the first event.
     * @returns undefined for a follower that has received all of it already.
     */
    async followLog(id: string, revisionId: string, query: unknown, { signal, lastId, isAdmitted }: FollowOptions) {
      const call = new Call('follow log', 'GET', `/v2/deployments/${id}/revisions/${revisionId}/logs/stream`);
      const requested = call.query(followQuery, query);
      const { [lastEventHeader]: last } = call.value(readShape(lastEvent, { [lastEventHeader]: lastId }, 'header'));
      const revision = await ownRevision(call, id, revisionId);
      const ids = { deploymentId: revision.deployment_id, revisionId: revision.id };
      const followed = { ...requested, ...ids, after: last ?? requested.after };
      if (last !== undefined && (await isFullyRead(followed, store))) return undefined;
      return whileAdmitted(
        (ended) =>
          followLog(followed, { store, notifier: logNotifier, clock, signal: AbortSignal.any([signal, ended]) }),
        isAdmitted,
        clock,
      );
    },
  };
}
