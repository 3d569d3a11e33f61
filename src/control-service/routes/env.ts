import type { OurControlService } from '../service.ts';

/** The variables of every route's context. */
export interface Env {
  Variables: {
    /** The service of the key's tenant. */
    service: OurControlService;
  };
}
