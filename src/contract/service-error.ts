/**
 * The kind of a service's failure:
 * - `rejected`: refused (400, 422, and other 4xx not named below)
 * - `unauthorized`: the key, the tenant or the token was not accepted (401, 403)
 * - `missing`: no such resource or endpoint (404, 405, 501)
 * - `conflict`: conflicts with an existing resource or a newer change (409, 412)
 * - `busy`: overloaded or failed; retry later (429, 5xx)
 * - `unreachable`: no response: DNS, connection, timeout, reset
 * - `unreadable`: a response that violates the specification: broken JSON, a wrong shape, a stream that ended early
 */
export type ServiceErrorKind =
  'rejected' | 'unauthorized' | 'missing' | 'conflict' | 'busy' | 'unreachable' | 'unreadable';

/** One entry of a 422 response (docs/design/contract.md#errors). */
export interface FieldProblem {
  loc: (string | number)[];
  msg: string;
  type: string;
}

export interface ServiceErrorDetails {
  kind: ServiceErrorKind;
  /** The operation, for people: `get deployment`, `stream run`. */
  operation: string;
  method: string;
  /** Scheme, host and path of the request. Never a query, a user or a password. */
  address: string;
  status?: number | undefined;
  /** The service's own message, truncated and without our secrets. */
  detail?: string | undefined;
  problems?: readonly FieldProblem[] | undefined;
  /** The delay (ms) that the service requested, if any. */
  retryAfterMs?: number | undefined;
  /** Whether the request took effect: `none` if surely not; `unknown` for a sent write, which the caller must check. */
  effect: 'none' | 'unknown';
  cause?: unknown;
}

/** A failure of a service. Never used for a programming error or a user's invalid file. */
/** The operations of a control service that decisions and advice tell apart. */
export type ControlOperation =
  | 'create deployment'
  | 'delete deployment'
  | 'get deployment'
  | 'patch deployment'
  | 'redeploy revision'
  | 'request upload'
  | 'upload source';

/** Whether an operation failed. The client names its operations by the same type. */
export const isOf = ({ operation }: Pick<ServiceError, 'operation'>, name: ControlOperation): boolean =>
  operation === name;

export class ServiceError extends Error {
  readonly kind: ServiceErrorKind;
  readonly operation: string;
  readonly method: string;
  readonly address: string;
  readonly status: number | undefined;
  readonly detail: string | undefined;
  readonly problems: readonly FieldProblem[];
  readonly retryAfterMs: number | undefined;
  readonly effect: 'none' | 'unknown';

  constructor(details: ServiceErrorDetails) {
    super(sentence(details), details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'ServiceError';
    this.kind = details.kind;
    this.operation = details.operation;
    this.method = details.method;
    this.address = details.address;
    this.status = details.status;
    this.detail = details.detail;
    this.problems = details.problems ?? [];
    this.retryAfterMs = details.retryAfterMs;
    this.effect = details.effect;
  }
}

/** What of an error says what to do about it. */
export interface ErrorFacts {
  kind: ServiceErrorKind;
  operation: string;
  status: number | undefined;
  problems: { length: number };
}

/** Whether the same request may succeed another time. */
export const isTransient = ({ kind }: Pick<ServiceError, 'kind'>): boolean =>
  kind === 'busy' || kind === 'unreachable' || kind === 'unreadable';

/** Whether a service lacks an optional endpoint, beyond the contract; the caller then continues without it. */
export function isNotOffered(error: unknown): boolean {
  return error instanceof ServiceError && (error.status === 404 || error.status === 405 || error.status === 501);
}

/** The value of a call; undefined where the service has no such thing, or lacks the endpoint. */
export const ifFound = <T>(call: Promise<T>): Promise<T | undefined> =>
  call.catch((error: unknown) => (isNotOffered(error) ? undefined : Promise.reject(error)));

function sentence({ operation, method, address, kind, status, detail, problems }: ServiceErrorDetails): string {
  const happened = status === undefined ? kind : `answered ${status}`;
  const fields = (problems ?? []).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
  const words = fields.length > 0 ? fields.join('; ') : detail;
  return `${operation}: ${happened} (${method} ${address})${words ? `: ${words}` : ''}`;
}
