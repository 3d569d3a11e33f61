import type * as z from 'zod';
import { deletedSince, keyOfAnother, readKeyedWrite } from '../validation/idempotency-key.ts';
import { theService } from '../store/audit.ts';
import type { StoreOperations } from '../store/store.ts';
import type { Recorder } from '../store/write-once.ts';
import { type Call } from './call.ts';
import type { ServiceDependencies } from './settings.ts';

export interface Write<T> {
  idempotencyKey: string | undefined;
  /** The parsed request body; nothing when absent. */
  body?: unknown;
  shape: z.ZodType<T>;
  /** The part of the response that is stored for a repetition; all of it when absent. */
  keep?: (answer: T) => T;
}

/**
 * Creates the function that performs a write once per idempotency key, with its record, in one transaction (creating and
 * changing a deployment do that themselves, in the store). `work` writes through `within`, passes its changes to
 * `record`, and throws to refuse, which rolls everything back. Send notifications after it returns: before the commit the change is not visible.
 */
export function createIdempotentWrite({ store, tenantId, by = theService }: ServiceDependencies) {
  return async function once<T>(
    call: Call,
    { idempotencyKey, body = null, shape, keep }: Write<T>,
    work: (within: StoreOperations, record: Recorder) => Promise<T>,
  ): Promise<T> {
    const keyed = call.value(readKeyedWrite(idempotencyKey, call.key, body));
    const write = { tenantId, by, operation: call.operation, keyed, ...(keep ? { keep } : {}) };
    const end = await store.once<T>(write, work);
    if (end.kind === 'key-of-another') throw call.refusal(keyOfAnother(end.request));
    if (end.kind === 'deleted-since') throw call.refusal(deletedSince);
    return end.kind === 'done' ? end.answer : shape.parse(end.answer);
  };
}
