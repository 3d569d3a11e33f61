import { revisionHistory } from '../contract/control/revision-history.ts';
import type { ControlRecords } from '../contract/control/service.ts';
import { verdictsList } from '../contract/control/verdict.ts';
import { ifFound } from '../contract/service-error.ts';
import { isUuid } from '../kit/uuid.ts';
import { call, query, segment } from './call.ts';
import { connection } from './connection.ts';
import type { ControlServiceSettings } from './control.ts';
import { readJson } from './response-readers.ts';

/** The records of a control service over HTTP; `close` ends its connections. */
interface ControlRecordsClient extends ControlRecords {
  close(): Promise<void>;
}

/** Connects to the records of a control service. */
export function connectControlRecords(settings: Omit<ControlServiceSettings, 'spelling'>): ControlRecordsClient {
  const link = connection(settings.baseUrl, settings);
  const deploymentPath = (id: string): string => `/v2/deployments/${segment('the deployment id', id)}`;
  return {
    historyOf: async (id, revisionId, options) => {
      // Services that have a history name revisions by uuids, and refuse others as a wrong query.
      if (!isUuid(revisionId)) return undefined;
      const read = {
        name: 'read revision history',
        method: 'GET',
        path: `${deploymentPath(id)}/revision-history`,
      } as const;
      const queryText = query({ revision_id: revisionId });
      const page = await ifFound(call(link, { ...read, query: queryText }, readJson(revisionHistory), options));
      return page?.resources.find(({ revision }) => revision.id === revisionId);
    },
    verdictsOf: async (id, revisionId, options) => {
      const path = `${deploymentPath(id)}/revisions/${segment('the revision id', revisionId)}/verdicts`;
      const list = await ifFound(
        call(link, { name: 'list verdicts', method: 'GET', path }, readJson(verdictsList), options),
      );
      return list?.resources;
    },
    close: () => link.close(),
  };
}
