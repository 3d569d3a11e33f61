import * as z from 'zod';
import { ServiceError, type ServiceErrorKind } from '../../../contract/service-error.ts';
import { readBody, readShape } from '../validation/shape.ts';
import { type ValidationResult, type Refusal, wrongShape } from '../validation/refusal.ts';

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
