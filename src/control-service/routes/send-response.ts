import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { fieldSpellings, spellFields } from '../../contract/control/aliases.ts';
import type { FieldSpelling } from '../../contract/control/aliases.ts';
import { ServiceError } from '../../contract/service-error.ts';
import { isDatabaseUnavailable } from '../../postgres/unavailable.ts';

/** The header that selects the spelling of the fields with two names. */
export const spellingHeader = 'X-Field-Names';

/** Sends a JSON response, in the requested spelling, else in the service's own. */
export function answer(context: Context, usual: FieldSpelling, body: unknown, status: ContentfulStatusCode = 200) {
  const requested = context.req.header(spellingHeader)?.trim().toLowerCase();
  const spelling = fieldSpellings.find((word) => word === requested) ?? usual;
  return context.json(spelling === 'contract' ? body : spellFields(body, spelling), status);
}

/** Formats every error in the document's shape: `detail` is a sentence, or the list of a 422. */
export function answerError(context: Context, error: unknown, log: (message: string) => void) {
  if (error instanceof ServiceError && error.status !== undefined) {
    const detail = error.status === 422 ? error.problems : (error.detail ?? error.message);
    return context.json({ detail }, statusOf(error.status));
  }
  if (isDatabaseUnavailable(error)) {
    log(`The database can't be used at the moment: ${wordsOf(error)}`);
    context.header('Retry-After', '2');
    return context.json({ detail: 'The database of this service is not there at the moment. Try again.' }, 503);
  }
  // Neither the response has the driver's message nor the log its details: both may contain data of the request.
  log(`${context.req.method} ${context.req.path} failed: ${wordsOf(error)}`);
  return context.json({ detail: 'The service failed at this request; its log says more.' }, 500);
}

const known: readonly ContentfulStatusCode[] = [400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 501, 502];
const statusOf = (status: number): ContentfulStatusCode => known.find((one) => one === status) ?? 500;

const wordsOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : typeof error);
