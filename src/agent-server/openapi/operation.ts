import type { Operation as AnyOperation } from '../../openapi/operation.ts';

/** The headers that an operation may read, by their names in `parameters.ts`. */
export type HeaderName = 'accept' | 'lastEventId' | 'a2aVersion' | 'mcpVersion';

/** The error statuses that several operations share; `errors.ts` describes each. */
export type ErrorStatus = 400 | 404 | 405 | 409 | 413 | 422 | 500;

/** One operation of the OpenAPI document. */
export type Operation = AnyOperation<HeaderName, ErrorStatus>;
