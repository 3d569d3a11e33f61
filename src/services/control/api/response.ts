import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { fieldSpellings, spellFields, type FieldSpelling } from '../../../contract/control/aliases.ts';
import { ServiceError } from '../../../contract/service-error.ts';
import { isDatabaseUnavailable } from '../../../kit/postgres/unavailable.ts';
import type { Env } from './operation.ts';
import { fieldNames } from './parameters.ts';
import type { Logger } from '../../../kit/logger.ts';

/** The requested spelling of a response, else the service's own. */
export function spellingOf(context: Context<Env>): FieldSpelling {
  const requested = context.req.header(fieldNames.name)?.trim().toLowerCase();
  return fieldSpellings.find((word) => word === requested) ?? context.var.settings.fieldNames;
}

/** Sends a JSON response in the requested spelling. */
export function sendSpelled(context: Context<Env>, body: unknown, status: ContentfulStatusCode = 200): Response {
  const spelling = spellingOf(context);
  return context.json(spelling === 'contract' ? body : spellFields(body, spelling), status);
}

/** Formats every error in the document's shape: `detail` is a sentence, or the list of a 422. */
export function sendError(context: Context, error: unknown, log: Logger) {
  if (error instanceof ServiceError && error.status !== undefined) {
    const detail = error.status === 422 ? error.problems : (error.detail ?? error.message);
    return context.json({ detail }, statusOf(error.status));
  }
  if (isDatabaseUnavailable(error)) {
    log.error(`The database can't be used at the moment: ${wordsOf(error)}`);
    context.header('Retry-After', '2');
    return context.json({ detail: 'The database of this service is not there at the moment. Try again.' }, 503);
  }
  // Neither the response has the driver's message nor the log its details: both may contain data of the request.
  log.error(`${context.req.method} ${context.req.path} failed: ${wordsOf(error)}`);
  return context.json({ detail: 'The service failed at this request; its log says more.' }, 500);
}

const known: readonly ContentfulStatusCode[] = [400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 501, 502];
const statusOf = (status: number): ContentfulStatusCode => known.find((one) => one === status) ?? 500;

const wordsOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : typeof error);
