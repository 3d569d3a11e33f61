import { ServiceError } from '../../contract/service-error.ts';

/** The value of a call, or the failure of the service. */
export type CallResult<T> = { ok: true; value: T } | { ok: false; error: ServiceError };

/** Returns a failure of the service as a value; throws everything else, such as an abort. */
export async function tryCall<T>(call: Promise<T>): Promise<CallResult<T>> {
  try {
    return { ok: true, value: await call };
  } catch (error) {
    if (error instanceof ServiceError) return { ok: false, error };
    throw error;
  }
}
