import type { Clock } from '../../clock.ts';
import { releaseClaim, renewClaim, reportWork, secretsOfClaim } from './claims.ts';
import type { Report } from './claims.ts';
import { claimWork } from './work-repository.ts';
import type { Claimer } from './work-repository.ts';
import { addListener, changeListener, findListener, listListeners, removeListener } from './repository.ts';
import type { ListenerChange, NewListener } from './repository.ts';
import type { ControlDatabase, ListenerRecord } from '../store/tables.ts';

/** The store's operations on listeners and their claims; each is described at its definition. */
export const listenerStore = (db: ControlDatabase, clock: Clock) => ({
  addListener: (tenantId: string, listener: NewListener) => addListener(db, clock, tenantId, listener),
  listListeners: (tenantId: string, page: { limit?: number | undefined; offset?: number | undefined }) =>
    listListeners(db, tenantId, page),
  findListener: (tenantId: string, id: string) => findListener(db, tenantId, id),
  changeListener: <Refusal>(
    tenantId: string,
    id: string,
    decide: (current: ListenerRecord) => ListenerChange | { refused: Refusal },
  ) => changeListener(db, clock, tenantId, id, decide),
  removeListener: (tenantId: string, id: string) => removeListener(db, tenantId, id),

  claimWork: (listener: ListenerRecord, claimer: Claimer) => claimWork(db, clock, listener, claimer),
  renewClaim: (listenerId: string, claimId: string) => renewClaim(db, clock, listenerId, claimId),
  reportWork: (listenerId: string, claimId: string, report: Report) =>
    reportWork(db, clock, listenerId, claimId, report),
  secretsOfClaim: (listenerId: string, claimId: string) => secretsOfClaim(db, listenerId, claimId),
  releaseClaim: (listenerId: string, claimId: string, how: { isUndone: boolean }) =>
    releaseClaim(db, clock, listenerId, claimId, how),
});
