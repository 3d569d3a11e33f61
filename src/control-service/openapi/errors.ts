import type { Answer } from '../../openapi/operation.ts';
import type { ErrorStatus } from './operation.ts';
import { fieldProblemsResponse, problemResponse } from './responses.ts';

const sentence = (description: string): Answer => ({ description, schema: problemResponse });

/** What each refusal means. */
export const errorAnswers: Readonly<Record<ErrorStatus, Answer>> = {
  400: sentence('A rule is broken: one sentence for each.'),
  401: sentence('What was sent to be let in by is missing, or not valid.'),
  403: sentence('The address was not handed out, or has expired.'),
  404: sentence('There is no such thing, or it is another tenant’s.'),
  409: sentence('Something that exists stands in the way, or it is being deleted.'),
  412: sentence('Another revision than the one in If-Match is the latest.'),
  413: sentence('The body is too large.'),
  415: sentence('The body is of another media type.'),
  422: { description: 'Fields of a wrong shape or out of bounds: an entry for each.', schema: fieldProblemsResponse },
  502: sentence('What has to be asked elsewhere for it, GitHub or the image registry, did not answer or broke down.'),
  507: sentence('The disk is full.'),
};

/** How whatever wants a key may be refused. */
export const refusedCallers: Readonly<Record<number, Answer>> = {
  401: sentence('No key was sent, or it is not valid.'),
  403: sentence('X-Tenant-Id is not the tenant of the key.'),
};

/** How everything may end that needs the database. */
export const databaseAway: Readonly<Record<number, Answer>> = {
  503: sentence('The database is not there at the moment: try again after `Retry-After` seconds.'),
};
