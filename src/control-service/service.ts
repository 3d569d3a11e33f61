import type { ControlService } from '../contract/control/service.ts';
import { deletionOperations } from './service/deletion.ts';
import { deploymentOperations } from './service/deployments.ts';
import { revisionOperations } from './service/revisions.ts';
import type { ServiceSettings } from './service/settings.ts';
import { surroundingsOperations } from './service/surroundings.ts';

/**
 * The control service for one tenant, in this process (control-service.md). It does what the contract's interface
 * says, and takes anything as a body: what does not hold is refused with the same `ServiceError`s that a client makes
 * of the answers over HTTP. The operations beyond the interface are described where they are defined.
 */
export function createControlService(settings: ServiceSettings) {
  return {
    ...deploymentOperations(settings),
    ...deletionOperations(settings),
    ...revisionOperations(settings),
    ...surroundingsOperations(settings),
  } satisfies ControlService;
}
export type OurControlService = ReturnType<typeof createControlService>;
