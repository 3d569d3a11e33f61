import type { LogPage } from '../../contract/control/log.ts';
import { revision } from '../../contract/control/revision.ts';
import type { Revision, RevisionsList } from '../../contract/control/revision.ts';
import type { WriteOptions } from '../../contract/control/service.ts';
import { logPageQuery, revisionsPage } from '../rules/queries.ts';
import { unfinishedStatuses } from '../rules/revision-states.ts';
import { readShape } from '../rules/shape.ts';
import type { StoreOperations } from '../store/store.ts';
import type { LogKind, RevisionRecord } from '../store/tables.ts';
import { tellLog, tellRevision } from '../tell.ts';
import { writing } from './once.ts';
import { beingDeleted, found, refusedCall, take, takeId } from './refuse.ts';
import type { Call } from './refuse.ts';
import type { ServiceSettings } from './settings.ts';

/** Reading and interrupting revisions, and their logs. */
export function revisionOperations(settings: ServiceSettings) {
  const { store, rollouts, tenantId } = settings;
  const once = writing(settings);

  async function ownDeployment(call: Call, id: string, within: StoreOperations = store): Promise<string> {
    const deploymentId = takeId(call, 'deployment_id', id);
    found(call, 'Deployment', id, await within.findDeployment(tenantId, deploymentId));
    return deploymentId;
  }

  async function ownRevision(
    call: Call,
    id: string,
    revisionId: string,
    within: StoreOperations = store,
  ): Promise<RevisionRecord> {
    const wanted = takeId(call, 'revision_id', revisionId);
    const deploymentId = await ownDeployment(call, id, within);
    return found(call, 'Revision', revisionId, await within.findRevision(deploymentId, wanted));
  }

  async function log(kind: LogKind, id: string, revisionId: string, body: unknown): Promise<LogPage> {
    const path = `/v1/projects/${id}/revisions/${revisionId}/${kind}_logs`;
    const call = { operation: `read ${kind} log`, method: 'POST', path };
    const query = take(call, readShape(logPageQuery, body ?? {}, 'body'));
    const { id: ownId } = await ownRevision(call, id, revisionId);
    return tellLog(await store.readLog([ownId], kind, query), query.limit);
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
    async interruptRevision(id: string, revisionId: string, { idempotencyKey }: WriteOptions = {}): Promise<Revision> {
      const path = `/v2/deployments/${id}/revisions/${revisionId}/interruption`;
      const call = { operation: 'interrupt revision', method: 'POST', path };
      const [deploymentId, wanted] = [takeId(call, 'deployment_id', id), takeId(call, 'revision_id', revisionId)];
      const told = await once(call, { idempotencyKey, shape: revision }, async (within, record) => {
        const { deployment_id } = await ownRevision(call, id, revisionId, within);
        if ((await within.deployment(deployment_id))?.deletion !== 'none') throw refusedCall(call, beingDeleted);
        const message = 'It was interrupted on request.';
        const interrupted = await within.setStatus(wanted, unfinishedStatuses, 'INTERRUPTED', { message });
        if (!interrupted) {
          throw refusedCall(call, { status: 400, detail: `The revision ${wanted} has ended already.` });
        }
        await record({ deployment_id, revision_id: wanted });
        return tellRevision(interrupted);
      });
      rollouts.interrupted(deploymentId, wanted);
      rollouts.wake(deploymentId);
      return told;
    },

    buildLogs: (id: string, revisionId: string, body: unknown) => log('build', id, revisionId, body),
    deployLogs: (id: string, revisionId: string, body: unknown) => log('deploy', id, revisionId, body),
  };
}
