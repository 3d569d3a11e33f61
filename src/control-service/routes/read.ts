import type { Context } from 'hono';
import { ServiceError } from '../../contract/service-error.ts';
import type { FieldProblem } from '../../contract/service-error.ts';

/** The largest body that is read, in bytes. */
export const largestBody = 1_048_576;

/** The JSON body of a request; undefined where there is none. A body that is something else is a 415 or a 422. */
export async function readJson(context: Context): Promise<unknown> {
  const text = await context.req.text();
  if (text === '') return undefined;
  const type = context.req.header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(type)) {
    throw unreadable(context, 415, 'Send the body as JSON, with Content-Type: application/json.');
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own words quote the body, which may hold secrets.
    throw unreadable(context, 422, [{ loc: ['body'], msg: 'The body is not JSON', type: 'json_invalid' }]);
  }
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

/** The numbers of a query as numbers; what is none stays a text, which the schema then refuses. */
export function readQuery(context: Context): Record<string, unknown> {
  const { deployment_ids: _, ...query }: Record<string, unknown> = context.req.query();
  for (const name of ['limit', 'offset']) {
    const written = query[name];
    if (typeof written === 'string' && /^-?\d{1,15}$/.test(written)) query[name] = Number(written);
  }
  const ids = context.req.queries('deployment_ids')?.flatMap((list) => list.split(',').map((id) => id.trim()));
  return ids === undefined ? query : { ...query, deployment_ids: ids.filter((id) => id !== '') };
}
