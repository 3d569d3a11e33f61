import type { OurControlService } from '../service.ts';

/** What every route finds in its context. */
export interface Env {
  Variables: {
    /** The service of the tenant whose key was sent. */
    service: OurControlService;
  };
}
