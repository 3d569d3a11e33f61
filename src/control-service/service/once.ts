import type * as z from 'zod';
import { deletedSince, keyOfAnother, readKeyedWrite } from '../rules/idempotency-key.ts';
import { theService } from '../store/audit.ts';
import type { StoreOperations } from '../store/store.ts';
import type { Recorder } from '../store/write-once.ts';
import { asOne, refusedCall, take } from './refuse.ts';
import type { Call } from './refuse.ts';
import type { ServiceSettings } from './settings.ts';

/** How a write is asked for. */
export interface Write<T> {
  /** `WriteOptions.idempotencyKey` */
  idempotencyKey: string | undefined;
  /** What the request says beside its path, as it was understood; nothing when absent. */
  body?: unknown;
  /** Reads the answer again that was kept for a repetition. */
  shape: z.ZodType<T>;
  /** What of the answer is kept for a repetition; all of it when absent. */
  keep?: (answer: T) => T;
}

/**
 * Makes the function that does every write but those of `store.changeDeployment` and `store.createDeployment`: once under
 * its key, with its record, in one transaction. `work` writes by `within`, tells `record` what it changed, and throws a
 * refusal, which undoes all of it. What others are woken by comes after it, since before it nothing is there to be seen.
 */
export function writing({ store, tenantId, by = theService }: ServiceSettings) {
  return async function once<T>(
    call: Call,
    { idempotencyKey, body = null, shape, keep }: Write<T>,
    work: (within: StoreOperations, record: Recorder) => Promise<T>,
  ): Promise<T> {
    const keyed = take(call, readKeyedWrite(idempotencyKey, asOne(call), body));
    const write = { tenantId, by, operation: call.operation, keyed, ...(keep ? { keep } : {}) };
    const end = await store.once<T>(write, work);
    if (end.kind === 'key-of-another') throw refusedCall(call, keyOfAnother(end.request));
    if (end.kind === 'deleted-since') throw refusedCall(call, deletedSince);
    return end.kind === 'done' ? end.answer : shape.parse(end.answer);
  };
}
