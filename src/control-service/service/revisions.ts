import type { LogPage } from '../../contract/control/log.ts';
import type { Revision, RevisionsList } from '../../contract/control/revision.ts';
import { logPageQuery, revisionsPage } from '../rules/queries.ts';
import { unfinishedStatuses } from '../rules/revision-states.ts';
import { readShape } from '../rules/shape.ts';
import type { LogKind, RevisionRecord } from '../store/tables.ts';
import { tellLog, tellRevision } from '../tell.ts';
import { beingDeleted, found, refusedCall, take, takeId } from './refuse.ts';
import type { Call } from './refuse.ts';
import type { ServiceSettings } from './settings.ts';

/** Reading and interrupting revisions, and their logs. */
export function revisionOperations({ store, rollouts, tenantId }: ServiceSettings) {
  async function ownDeployment(call: Call, id: string): Promise<string> {
    const deploymentId = takeId(call, 'deployment_id', id);
    found(call, 'Deployment', id, await store.findDeployment(tenantId, deploymentId));
    return deploymentId;
  }

  async function ownRevision(call: Call, id: string, revisionId: string): Promise<RevisionRecord> {
    const wanted = takeId(call, 'revision_id', revisionId);
    const deploymentId = await ownDeployment(call, id);
    return found(call, 'Revision', revisionId, await store.findRevision(deploymentId, wanted));
  }

  async function log(kind: LogKind, id: string, revisionId: string, body: unknown): Promise<LogPage> {
    const path = `/v1/projects/${id}/revisions/${revisionId}/${kind}_logs`;
    const call = { operation: `read ${kind} log`, method: 'POST', path };
    const query = take(call, readShape(logPageQuery, body ?? {}, 'body'));
    const revision = await ownRevision(call, id, revisionId);
    return tellLog(await store.readLog([revision.id], kind, query), query.limit);
  }

  return {
    async getRevision(id: string, revisionId: string): Promise<Revision> {
      const path = `/v2/deployments/${id}/revisions/${revisionId}`;
      return tellRevision(await ownRevision({ operation: 'get revision', method: 'GET', path }, id, revisionId));
    },

    async listRevisions(id: string, query: unknown): Promise<RevisionsList> {
      const call = { operation: 'list revisions', method: 'GET', path: `/v2/deployments/${id}/revisions` };
      const page = take(call, readShape(revisionsPage, query, 'query'));
      const revisions = await store.listRevisions(await ownDeployment(call, id), page);
      return { resources: revisions.map(tellRevision), offset: (page.offset ?? 0) + revisions.length };
    },

    /** POST .../interruption: ends a revision that is on its way; the live one goes on serving. */
    async interruptRevision(id: string, revisionId: string): Promise<Revision> {
      const path = `/v2/deployments/${id}/revisions/${revisionId}/interruption`;
      const call = { operation: 'interrupt revision', method: 'POST', path };
      const revision = await ownRevision(call, id, revisionId);
      if ((await store.deployment(revision.deployment_id))?.deletion !== 'none') throw refusedCall(call, beingDeleted);
      const message = 'It was interrupted on request.';
      const interrupted = await store.setStatus(revision.id, unfinishedStatuses, 'INTERRUPTED', { message });
      if (!interrupted) {
        throw refusedCall(call, { status: 400, detail: `The revision ${revision.id} has ended already.` });
      }
      rollouts.interrupted(revision.deployment_id, revision.id);
      rollouts.wake(revision.deployment_id);
      return tellRevision(interrupted);
    },

    buildLogs: (id: string, revisionId: string, body: unknown) => log('build', id, revisionId, body),
    deployLogs: (id: string, revisionId: string, body: unknown) => log('deploy', id, revisionId, body),
  };
}
