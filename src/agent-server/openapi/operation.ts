import type { Operation as AnyOperation } from '../../openapi/operation.ts';

/** The headers that an operation may heed, by what they are called in `parameters.ts`. */
export type HeaderName = 'accept' | 'lastEventId' | 'a2aVersion' | 'mcpVersion';

/** The refusals that several operations share, by their statuses; `errors.ts` says what each means. */
export type ErrorStatus = 400 | 404 | 405 | 409 | 413 | 422 | 500;

/** One operation of the server, as the description of its interface has it. */
export type Operation = AnyOperation<HeaderName, ErrorStatus>;
