import type { ControlService } from '../../contract/control/service.ts';
import { deletionOperations } from './deployments/delete.ts';
import { deploymentOperations } from './deployments/service.ts';
import { healthOperations } from './health/service.ts';
import { listenerWorkOperations } from './listeners/work-service.ts';
import { listenerOperations } from './listeners/service.ts';
import { keyOperations } from './api-keys/service.ts';
import { logOperations } from './logs/service.ts';
import { holdOperations } from './revisions/hold-service.ts';
import { revisionOperations, packageOperations } from './revisions/service.ts';
import type { RolloutNotifier, ServiceDependencies } from './service/settings.ts';
import { integrationOperations } from './integrations/service.ts';
import { trustOperations } from './trust/service.ts';
import { tracingOperations } from './tracing-projects/service.ts';
import { uploadOperations } from './uploads/service.ts';
import { historyOperations } from './revisions/history.ts';
import { summaryOperations } from './deployments/summaries.ts';
import { smokeTestOperations } from './smoke-tests/service.ts';

/**
 * The control service for one tenant, in this process (docs/design/contract.md). It does what the contract's interface
 * says, and takes anything as a body: what does not hold is refused with the same `ServiceError`s that a client makes
 * of the answers over HTTP. The operations beyond the interface are described where they are defined.
 */
export function createControlService(given: ServiceDependencies) {
  const settings = { ...given, rollouts: changedByListeners(given) };
  return {
    ...deploymentOperations(settings),
    ...deletionOperations(settings),
    ...revisionOperations(settings),
    ...holdOperations(settings),
    ...historyOperations(settings),
    ...packageOperations(settings),
    ...summaryOperations(settings),
    ...smokeTestOperations(settings),
    ...logOperations(settings),
    ...healthOperations(settings),
    ...integrationOperations(settings),
    ...uploadOperations(settings),
    ...keyOperations(settings),
    ...trustOperations(settings),
    ...tracingOperations(settings),
    ...listenerOperations(settings),
    ...listenerWorkOperations(settings),
  } satisfies ControlService;
}
export type OurControlService = ReturnType<typeof createControlService>;

/** Whatever may be work for this service's own rollouts may be work for a listener. */
function changedByListeners({
  rollouts,
  notifier,
}: Pick<ServiceDependencies, 'rollouts' | 'notifier'>): RolloutNotifier {
  return {
    wake(deploymentId) {
      rollouts.wake(deploymentId);
      notifier?.notify();
    },
    interrupted: (deploymentId, revisionId) => rollouts.interrupted(deploymentId, revisionId),
  };
}
