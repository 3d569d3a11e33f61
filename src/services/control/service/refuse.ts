import * as z from 'zod';
import { ServiceError, type ServiceErrorKind } from '../../../contract/service-error.ts';
import { type ValidationResult, type Refusal, wrongShape } from '../validation/refusal.ts';

/** One operation, as errors describe it. */
export interface Call {
  /** In words: `get deployment`. */
  operation: string;
  method: string;
  /** The path below the service's address. */
  path: string;
}

/** Identifies a write under its key. Ids ignore case, and a repetition may use the other one. */
export const asOne = ({ method, path }: Call): string => `${method} ${path.toLowerCase()}`;

const kinds: Readonly<Record<Refusal['status'], ServiceErrorKind>> = {
  400: 'rejected',
  404: 'missing',
  409: 'conflict',
  412: 'conflict',
  422: 'rejected',
  501: 'missing',
  502: 'busy',
};

/** A refusal as the error that a caller gets, in process and over HTTP alike. Nothing has taken effect. */
export function refusedCall(call: Call, refusal: Refusal): ServiceError {
  return new ServiceError({
    kind: kinds[refusal.status],
    operation: call.operation,
    method: call.method,
    address: call.path,
    status: refusal.status,
    effect: 'none',
    ...(refusal.status === 422 ? { problems: refusal.problems } : { detail: refusal.detail }),
  });
}

/** The value, or the refusal thrown. */
export function valueOrThrow<T>(call: Call, judged: ValidationResult<T>): T {
  if (judged.ok) return judged.value;
  throw refusedCall(call, judged.refusal);
}

/** An id of a path, which has to be a uuid; in lower case. */
export const parseId = (call: Call, name: string, id: string): string => parseUuid(call, ['path', name], id);

/** The same of a header. */
export const parseHeaderId = (call: Call, name: string, id: string): string => parseUuid(call, ['header', name], id);

function parseUuid(call: Call, loc: string[], id: string): string {
  const read = z.uuid().safeParse(id);
  if (read.success) return read.data.toLowerCase();
  return valueOrThrow(call, wrongShape([{ loc, msg: 'Invalid UUID', type: 'invalid_format' }]));
}

/** What was looked for, or a 404. */
export function foundOrThrow<T>(call: Call, what: string, id: string, value: T | undefined): T {
  if (value !== undefined) return value;
  throw refusedCall(call, { status: 404, detail: `${what} ID ${id} not found.` });
}

/** The answer to whatever would change a deployment that is being deleted. */
export const beingDeleted: Refusal = {
  status: 409,
  detail:
    'This deployment is being deleted and cannot be changed any more. Once reading it answers 404 another one can be created.',
};
