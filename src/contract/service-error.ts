/**
 * What kind of failure the other party gave:
 * - `rejected`: it understood and said no (400, 422, and other 4xx not named below)
 * - `unauthorized`: the key, the tenant or the token was not accepted (401, 403)
 * - `missing`: no such thing, or no such endpoint (404, 405, 501)
 * - `conflict`: it stands in the way of something that exists, or came too late (409, 412)
 * - `busy`: it asked to come back later, or broke down (429, 5xx)
 * - `unreachable`: no answer: name, connection, timeout, reset
 * - `unreadable`: an answer that is not what the documents describe: broken JSON, a wrong shape, a stream that ended early
 */
export type ServiceErrorKind =
  'rejected' | 'unauthorized' | 'missing' | 'conflict' | 'busy' | 'unreachable' | 'unreadable';

/** One entry of a 422 answer (control-service.md, Errors). */
export interface FieldProblem {
  loc: (string | number)[];
  msg: string;
  type: string;
}

/** What a `ServiceError` is made of. */
export interface ServiceErrorDetails {
  kind: ServiceErrorKind;
  /** What was tried, in words: `get deployment`, `stream run`. */
  operation: string;
  method: string;
  /** Where it was sent: scheme, host and path. Never a query, a user or a password. */
  address: string;
  status?: number | undefined;
  /** The other party's own words, bounded and without anything that we sent as a secret. */
  detail?: string | undefined;
  /** Every entry of a 422. */
  problems?: readonly FieldProblem[] | undefined;
  /** How long it asked us to wait (ms), where it did. */
  retryAfterMs?: number | undefined;
  /**
   * Whether the request took effect: `none` when it surely did not (refused, or never sent), `unknown` when a write
   * was sent and no trustworthy answer came. Only `unknown` has to be settled by looking.
   */
  effect: 'none' | 'unknown';
  cause?: unknown;
}

/** The other party's failure, whichever way it showed. A mistake of our own or of a person's file is never one. */
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

/**
 * True where a service does not have an optional endpoint at all. An endpoint that is optional is one that
 * control-service.md does not list; a caller then goes on without it.
 */
export function isNotOffered(error: unknown): boolean {
  return error instanceof ServiceError && (error.status === 404 || error.status === 405 || error.status === 501);
}

function sentence({ operation, method, address, kind, status, detail, problems }: ServiceErrorDetails): string {
  const happened = status === undefined ? kind : `answered ${status}`;
  const fields = (problems ?? []).map(({ loc, msg }) => `${loc.join('.')}: ${msg}`);
  const words = fields.length > 0 ? fields.join('; ') : detail;
  return `${operation}: ${happened} (${method} ${address})${words ? `: ${words}` : ''}`;
}
