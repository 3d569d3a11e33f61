import type { Answer } from '../../openapi/operation.ts';
import type { ErrorStatus } from './operation.ts';
import { validationErrorResponse } from './responses.ts';

const refusal = (description: string): Answer => ({ description, schema: validationErrorResponse });

/** The meaning of each error status. */
export const errorAnswers: Readonly<Record<ErrorStatus, Answer>> = {
  400: refusal('The body is not JSON, or not readable by this endpoint.'),
  404: refusal('The resource does not exist.'),
  405: refusal('The method is not allowed here.'),
  409: refusal('The request conflicts with an existing resource.'),
  413: refusal('The body is larger than 16 MB.'),
  422: refusal('Invalid or unsupported fields: an entry for each.'),
  500: refusal('Internal error. See the server’s log.'),
};

/** The errors that every operation may return. */
export const commonRefusals: Readonly<Record<number, Answer>> = {
  401: refusal('No valid key was sent, or the agent’s own authentication refused the caller.'),
  403: refusal('The caller may not do this, or did not come through the deployment’s address.'),
  503: refusal('The database is not there at the moment, or this revision does not serve: ask again.'),
};
