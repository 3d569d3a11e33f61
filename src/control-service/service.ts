import type { ControlService } from '../contract/control/service.ts';
import { deletionOperations } from './service/deletion.ts';
import { deploymentOperations } from './service/deployments.ts';
import { listenerWorkOperations } from './service/listener-work.ts';
import { listenerOperations } from './service/listeners.ts';
import { keyOperations } from './service/keys.ts';
import { logOperations } from './service/logs.ts';
import { revisionOperations } from './service/revisions.ts';
import type { Rollouts, ServiceSettings } from './service/settings.ts';
import { integrationOperations } from './service/integrations.ts';
import { tracingOperations } from './service/tracing-projects.ts';
import { uploadOperations } from './service/uploads.ts';

/**
 * The control service for one tenant, in this process (control-service.md). It does what the contract's interface
 * says, and takes anything as a body: what does not hold is refused with the same `ServiceError`s that a client makes
 * of the answers over HTTP. The operations beyond the interface are described where they are defined.
 */
export function createControlService(given: ServiceSettings) {
  const settings = { ...given, rollouts: heardByListeners(given) };
  return {
    ...deploymentOperations(settings),
    ...deletionOperations(settings),
    ...revisionOperations(settings),
    ...logOperations(settings),
    ...integrationOperations(settings),
    ...uploadOperations(settings),
    ...keyOperations(settings),
    ...tracingOperations(settings),
    ...listenerOperations(settings),
    ...listenerWorkOperations(settings),
  } satisfies ControlService;
}
export type OurControlService = ReturnType<typeof createControlService>;

/** Whatever may be work for this service's own rollouts may be work for a listener. */
function heardByListeners({ rollouts, notifier }: Pick<ServiceSettings, 'rollouts' | 'notifier'>): Rollouts {
  return {
    wake(deploymentId) {
      rollouts.wake(deploymentId);
      notifier?.notify();
    },
    interrupted: (deploymentId, revisionId) => rollouts.interrupted(deploymentId, revisionId),
  };
}
