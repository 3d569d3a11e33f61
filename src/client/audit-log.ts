import { auditList } from '../contract/control/api-key.ts';
import type { AuditLog } from '../contract/control/service.ts';
import { ifFound, type ControlOperation } from '../contract/service-error.ts';
import { isUuid } from '../kit/uuid.ts';
import { call, query } from './call.ts';
import { connection } from './connection.ts';
import type { ControlServiceSettings } from './control.ts';
import { readJson } from './response-readers.ts';

/**
 * Connects to the audit log of a control service; `close` ends its connections. It is apart from the records, which the
 * Action bundles and which don't need the schemas of keys.
 */
export function connectAuditLog(
  settings: Omit<ControlServiceSettings, 'spelling'>,
): AuditLog & { close: () => Promise<void> } {
  const link = connection(settings.baseUrl, settings);
  const operation = 'delete deployment' satisfies ControlOperation;
  return {
    deletionOf: async (id, options) => {
      if (!isUuid(id)) return undefined;
      const queryText = query({ deployment_id: id, operation, limit: 1 });
      const read = { name: 'read audit log', method: 'GET', path: '/v1/audit', query: queryText } as const;
      const page = await ifFound(call(link, read, readJson(auditList), options));
      return page?.resources.find(({ subject }) => subject['deployment_id'] === id)?.at;
    },
    close: () => link.close(),
  };
}
