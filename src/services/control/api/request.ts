import type { Context } from 'hono';
import { idempotencyKeyHeader } from '../../../contract/control/idempotency-key.ts';
import { idleAfterHeader, type IdleAfter } from '../../../contract/control/deployment.ts';
import { buildOfHeader, commitHeader, holdHeader } from '../../../contract/control/revision.ts';
import { fromJson, holdsMore } from '../../../kit/json-text.ts';
import { readBounded } from '../../../kit/read-bounded.ts';
import { ServiceError, type FieldProblem } from '../../../contract/service-error.ts';
import { maxSigns, tooManyValues } from '../validation/text.ts';

/** The largest body, in bytes. */
export const maxBodyBytes = 1_048_576;

/** The JSON body of a request; undefined where there is none. Others are a 413, a 415 or a 422. */
export async function readJson(context: Context): Promise<unknown> {
  const bytes = await readBytes(context);
  if (bytes.length === 0) return undefined;
  const [type = '', ...parameters] = (context.req.header('content-type') ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const charset = parameters.find((each) => each.startsWith('charset='))?.replace(/^charset="?([^"]*)"?$/, '$1');
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    throw unreadable(context, 415, 'Send the body in UTF-8: JSON has no other encoding.');
  }
  if (type !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(type)) {
    throw unreadable(context, 415, 'Send the body as JSON, with Content-Type: application/json.');
  }
  const text = utf8In(bytes);
  if (text === undefined) {
    throw unreadable(context, 422, [{ loc: ['body'], msg: 'The body is not UTF-8', type: 'json_invalid' }]);
  }
  // Parsing many keys takes long, so they are counted before.
  if (holdsMore(text, maxSigns)) throw unreadable(context, 422, [tooManyValues(['body'])]);
  const value = fromJson(text);
  // The parser's message would quote the body, which may contain secrets.
  if (value === undefined)
    throw unreadable(context, 422, [{ loc: ['body'], msg: 'The body is not JSON', type: 'json_invalid' }]);
  return value;
}

function utf8In(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

async function readBytes(context: Context): Promise<Uint8Array> {
  const announced = Number(context.req.header('content-length') ?? 0);
  if (announced > maxBodyBytes) throw tooLarge(context);
  const bytes = await readBounded(context.req.raw.body ?? [], maxBodyBytes).catch(() => {
    // The client is probably gone; still, this must not count as an error of the service.
    throw unreadable(context, 400, 'The body broke off before its end. Send the request again.');
  });
  if (!bytes) throw tooLarge(context);
  return bytes;
}

function tooLarge(context: Context): ServiceError {
  // The rest of the body stays unread, so the connection can't be reused.
  context.header('Connection', 'close');
  return unreadable(context, 413, `The body is larger than ${maxBodyBytes} bytes.`);
}

function unreadable(context: Context, status: number, why: string | FieldProblem[]): ServiceError {
  return new ServiceError({
    kind: 'rejected',
    operation: 'read body',
    method: context.req.method,
    address: context.req.path,
    status,
    effect: 'none',
    ...(typeof why === 'string' ? { detail: why } : { problems: why }),
  });
}

/**
 * What a write is sent with beside its body. `If-Match` names the revision that it was decided on; `*` is none, for
 * what is not there is a 404 anyway. `Idempotency-Key` may stand in quotes or without.
 */
export function readConditions(context: Context): {
  ifLatest?: string;
  idempotencyKey?: string;
  holdSeconds?: number;
  commit?: string;
  buildOf?: string;
  idleAfter?: IdleAfter;
} {
  const unquoted = (written: string): string => written.trim().replace(/^"(.*)"$/, '$1');
  const ifMatch = context.req.header('if-match')?.trim() ?? '*';
  const key = context.req.header(idempotencyKeyHeader);
  const hold = context.req.header(holdHeader)?.trim();
  const commit = context.req.header(commitHeader)?.trim();
  const build = context.req.header(buildOfHeader);
  const idle = context.req.header(idleAfterHeader)?.trim().toLowerCase();
  return {
    ...(ifMatch === '*' ? {} : { ifLatest: unquoted(ifMatch) }),
    ...(key === undefined ? {} : { idempotencyKey: unquoted(key) }),
    ...(hold === undefined ? {} : { holdSeconds: wholeNumber(hold) }),
    ...(commit === undefined ? {} : { commit }),
    ...(build === undefined ? {} : { buildOf: unquoted(build) }),
    ...(idle === undefined ? {} : { idleAfter: idle === 'never' ? idle : wholeNumber(idle) }),
  };
}

/** The number of a header; NaN for another text, which its rule refuses. */
const wholeNumber = (text: string): number => (/^\d{1,9}$/.test(text) ? Number(text) : NaN);

/** The words of a query that are true or false, as in the public service's. */
const truths = new Map([
  ...['true', '1', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off'].map((word) => [word, false] as const),
]);

/** Converts numbers and booleans of a query; leaves other text as it is, for the schema to reject. */
export function readQuery(context: Context): Record<string, unknown> {
  const { deployment_ids: _, ...query }: Record<string, unknown> = context.req.query();
  for (const name of ['limit', 'offset']) if (name in query) query[name] = asNumber(query[name]);
  for (const name of ['delete_tracing_project', 'remote_reconciled', 'undone', 'without_listener']) {
    const written = query[name];
    if (typeof written === 'string') query[name] = truths.get(written.toLowerCase()) ?? written;
  }
  const ids = context.req.queries('deployment_ids')?.flatMap((list) => list.split(',').map((id) => id.trim()));
  return ids === undefined ? query : { ...query, deployment_ids: ids.filter((id) => id !== '') };
}

/** The query of a log: `offset` is a cursor there, and no number. */
export function readLogQuery(context: Context): Record<string, unknown> {
  const query: Record<string, unknown> = context.req.query();
  return 'limit' in query ? { ...query, limit: asNumber(query['limit']) } : query;
}

const asNumber = (written: unknown): unknown =>
  typeof written === 'string' && /^-?\d{1,15}$/.test(written) ? Number(written) : written;
