import type { Context } from 'hono';
import { byMethod, type Operation, type OperationDescription } from '../../../kit/http/operation.ts';
import type { OurControlService } from '../service.ts';
import type { Env } from './operation.ts';
import { fieldNames } from './parameters.ts';
import { readConditions, readJson, readQuery } from './request.ts';
import { sendSpelled } from './response.ts';

type ParameterOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterOf<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

interface ServiceRequest<Name extends string> {
  param: (name: Name) => string;
  query: Record<string, unknown>;
  body: unknown;
  conditions: ReturnType<typeof readConditions>;
}

/** An operation that calls the tenant's service. */
interface ServiceCall<Path extends string, Name extends string> extends Omit<OperationDescription<Path>, Named> {
  /** Reads the query where it is not like others. */
  read?: typeof readQuery;
  /** Undefined is a 204; everything else is sent as JSON, with a 201 where the operation describes one. */
  call(this: void, service: OurControlService, request: ServiceRequest<Name>): Promise<unknown>;
}

type Named = 'method' | 'path' | 'id' | 'tag';

/**
 * Defines the operations of a group: one calls the tenant's service, or makes its response itself. Each names only the
 * errors of its own, unless it is open: those of its path, query and body are added.
 */
export const operationsOf = (tag: string) =>
  byMethod(
    (method) =>
      <Path extends string, Name extends string = ParameterOf<Path>>(
        path: Path,
        id: string,
        details: ServiceCall<Path, Name> | Omit<Operation<Env, Path>, Named>,
      ): Operation<Env> => {
        const named = { method, path, id, tag, errors: allErrors(path, details) };
        if ('handle' in details) return { ...details, ...named };
        const { call, read = readQuery, ...description } = details;
        const { body, headers, responses } = description;
        const send = headers?.includes(fieldNames) ? sendSpelled : sendJson;
        const handle = async (c: Context<Env>): Promise<Response> => {
          const result = await call(c.var.service, {
            param: (name) => c.req.param(name) ?? '',
            query: read(c),
            body: body && (await readJson(c)),
            conditions: readConditions(c),
          });
          return result === undefined ? c.body(null, 204) : send(c, result, 201 in responses ? 201 : 200);
        };
        return { ...description, ...named, handle };
      },
  );

const sendJson = (c: Context<Env>, body: unknown, status: 200 | 201): Response => c.json(body, status);

function allErrors(path: string, { query, body, open, errors = [] }: Omit<OperationDescription, Named>) {
  if (open) return errors;
  const ofPath = path.includes(':') ? [404, 422] : [];
  const ofBody = body ? [413, 415, 422] : [];
  return [...new Set([...errors, ...ofPath, ...(query ? [422] : []), ...ofBody])].toSorted((a, b) => a - b);
}
