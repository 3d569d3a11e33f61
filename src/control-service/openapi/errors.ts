import type { Answer } from '../../openapi/operation.ts';
import type { ErrorStatus } from './operation.ts';
import { fieldProblemsResponse, problemResponse } from './responses.ts';

const sentence = (description: string): Answer => ({ description, schema: problemResponse });

/** What each refusal means. */
export const errorAnswers: Readonly<Record<ErrorStatus, Answer>> = {
  400: sentence('A rule is broken: one sentence for each.'),
  401: sentence('The credential is missing or invalid.'),
  403: sentence('The address was not issued by this service, or has expired.'),
  404: sentence('It does not exist, or belongs to another tenant.'),
  409: sentence('It conflicts with something that exists, or it is being deleted.'),
  412: sentence('Another revision than the one in If-Match is the latest.'),
  413: sentence('The body is too large.'),
  415: sentence('The media type of the body is not supported.'),
  422: { description: 'Fields of a wrong shape or out of bounds: an entry for each.', schema: fieldProblemsResponse },
  502: sentence('GitHub or the image registry did not respond, or failed.'),
  507: sentence('The disk is full.'),
};

/** The refusals of every operation that needs a key. */
export const refusedCallers: Readonly<Record<number, Answer>> = {
  401: sentence('The API key is missing or invalid.'),
  403: sentence('X-Tenant-Id is not the tenant of the key.'),
};

/** The failure of every operation that needs the database. */
export const databaseAway: Readonly<Record<number, Answer>> = {
  503: sentence('The database is unavailable: try again after `Retry-After` seconds.'),
};
