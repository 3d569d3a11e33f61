import type { Operation as AnyOperation } from '../../openapi/operation.ts';

/** The headers that an operation may use, by their names in `parameters.ts`. */
export type HeaderName = 'fieldNames' | 'idempotencyKey' | 'ifMatch' | 'lastEventId' | 'contentDigest';

/** The refusals that several operations share, by their statuses; `errors.ts` says what each means. */
export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 412 | 413 | 415 | 422 | 502 | 507;

/** One operation of the service in its description. */
export type Operation = AnyOperation<HeaderName, ErrorStatus>;
