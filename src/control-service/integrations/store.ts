import type { Clock } from '../../clock.ts';
import {
  bindInstallation,
  findIntegration,
  listInstallations,
  listIntegrations,
  listRepositories,
  putInstallations,
  putIntegration,
  putRepositories,
  unbindInstallation,
} from './repository.ts';
import type { ListedInstallation, NewIntegration, NewRepository } from './repository.ts';
import type { ControlDatabase } from '../store/tables.ts';

/** The store's operations on GitHub's installations; each is described at its definition. */
export const integrationStore = (db: ControlDatabase, clock: Clock) => ({
  putIntegration: (tenantId: string, integration: NewIntegration) => putIntegration(db, clock, tenantId, integration),
  bindInstallation: (tenantId: string, installationId: number, name: string) =>
    bindInstallation(db, clock, tenantId, installationId, name),
  unbindInstallation: (tenantId: string, installationId: number) =>
    unbindInstallation(db, clock, tenantId, installationId),
  putInstallations: (installations: readonly ListedInstallation[]) => putInstallations(db, clock, installations),
  putRepositories: (integrationId: string, repositories: readonly NewRepository[]) =>
    putRepositories(db, integrationId, repositories),
  listIntegrations: (tenantId: string) => listIntegrations(db, tenantId),
  findIntegration: (tenantId: string, id: string) => findIntegration(db, tenantId, id),
  listRepositories: (integrationId: string) => listRepositories(db, integrationId),
  listInstallations: () => listInstallations(db),
});
