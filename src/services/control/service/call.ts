import * as z from 'zod';
import { ServiceError, type ServiceErrorKind } from '../../../contract/service-error.ts';
import { readBody, readShape } from '../validation/shape.ts';
import { wrongShape, type Refusal, type ValidationResult } from '../validation/refusal.ts';
import { deletedSince, keyOfAnother, readKeyedWrite } from '../validation/idempotency-key.ts';
import { theService } from '../store/audit.ts';
import type { StoreOperations } from '../store/store.ts';
import type { Recorder } from '../store/write-once.ts';
import type { ServiceDependencies } from './settings.ts';

const kinds: Readonly<Record<Refusal['status'], ServiceErrorKind>> = {
  400: 'rejected',
  401: 'unauthorized',
  404: 'missing',
  409: 'conflict',
  412: 'conflict',
  422: 'rejected',
  501: 'missing',
  502: 'busy',
};

/** A call of an operation: reads the parts of its request, and refuses it, in process and over HTTP alike. */
export class Call {
  readonly operation: string;
  readonly method: string;
  readonly path: string;

  /** @param operation in words: `get deployment`. @param path below the service's address. */
  constructor(operation: string, method: string, path: string) {
    this.operation = operation;
    this.method = method;
    this.path = path;
  }

  /** Identifies a write under its key. Ids ignore case, and a repetition may use the other one. */
  get key(): string {
    return `${this.method} ${this.path.toLowerCase()}`;
  }

  /** A refusal as the error that a caller gets. Nothing has taken effect. */
  refusal(refusal: Refusal): ServiceError {
    return new ServiceError({
      kind: kinds[refusal.status],
      operation: this.operation,
      method: this.method,
      address: this.path,
      status: refusal.status,
      effect: 'none',
      ...(refusal.status === 422 ? { problems: refusal.problems } : { detail: refusal.detail }),
    });
  }

  /** The value, or the refusal thrown. */
  value<T>(judged: ValidationResult<T>): T {
    if (judged.ok) return judged.value;
    throw this.refusal(judged.refusal);
  }

  /** The parsed query, or a 422. */
  query<T>(schema: z.ZodType<T>, query: unknown): T {
    return this.value(readShape(schema, query, 'query'));
  }

  /** The parsed body, or a 422. */
  body<T>(schema: z.ZodType<T>, body: unknown, options?: { isStrict: boolean }): T {
    return this.value(readBody(schema, body, options));
  }

  /** An id of the path or of a header, which has to be a uuid; in lower case. */
  id(name: string, id: string, within: 'path' | 'header' = 'path'): string {
    const read = z.uuid().safeParse(id);
    if (read.success) return read.data.toLowerCase();
    throw this.refusal(wrongShape([{ loc: [within, name], msg: 'Invalid UUID', type: 'invalid_format' }]).refusal);
  }

  /** What was looked for, or a 404. */
  found<T>(what: string, id: string, value: T | undefined): T {
    if (value !== undefined) return value;
    throw this.refusal({ status: 404, detail: `${what} ID ${id} not found.` });
  }
}

/** The answer to whatever would change a deployment that is being deleted. */
export const beingDeleted: Refusal = {
  status: 409,
  detail:
    'This deployment is being deleted and cannot be changed any more. Once reading it answers 404 another one can be created.',
};

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
