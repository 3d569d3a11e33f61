import type { Answer } from '../../openapi/operation.ts';
import type { ErrorStatus } from './operation.ts';
import { validationErrorResponse } from './responses.ts';

const refusal = (description: string): Answer => ({ description, schema: validationErrorResponse });

/** The meaning of each error status. */
export const errorAnswers: Readonly<Record<ErrorStatus, Answer>> = {
  400: refusal('The body is not JSON, or not what this endpoint can read at all.'),
  404: refusal('There is no such thing.'),
  405: refusal('The method is not allowed here.'),
  409: refusal('Something that exists stands in the way.'),
  413: refusal('The body is larger than 16 MB.'),
  422: refusal('Fields of a wrong shape, out of bounds, or of no effect here: an entry for each.'),
  500: refusal('The server failed; its log says more.'),
};

/** The errors that every operation may return. */
export const commonRefusals: Readonly<Record<number, Answer>> = {
  401: refusal('No valid key was sent, or the agent’s own authentication refused the caller.'),
  403: refusal('The caller may not do this, or did not come through the deployment’s address.'),
  503: refusal('The database is not there at the moment, or this revision does not serve: ask again.'),
};
