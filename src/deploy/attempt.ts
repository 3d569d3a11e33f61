import { ServiceError } from '../contract/service-error.ts';

/** A call's value, or how the other party failed. */
export type Attempted<T> = { ok: true; value: T } | { ok: false; error: ServiceError };

/** The other party's failure as a value. Everything else, an abort among it, goes on as it was thrown. */
export async function attempt<T>(call: Promise<T>): Promise<Attempted<T>> {
  try {
    return { ok: true, value: await call };
  } catch (error) {
    if (error instanceof ServiceError) return { ok: false, error };
    throw error;
  }
}
