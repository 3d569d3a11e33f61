import type { Context } from 'hono';
import { byMethod, type Operation, type OperationDescription } from '../../../kit/http/operation.ts';
import { allowsScope, type ApiKeyScope } from '../../../contract/control/api-key-scopes.ts';
import { scopeRefusal } from '../api-keys/admit.ts';
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
interface ServiceCall<Path extends string, Name extends string> extends Described<Path> {
  /** Reads the query where it is not like others. */
  read?: typeof readQuery;
  /** Undefined is a 204; everything else is sent as JSON, with a 201 where the operation describes one. */
  call(this: void, service: OurControlService, request: ServiceRequest<Name>): Promise<unknown>;
}

type Described<Path extends string = string> = Omit<
  OperationDescription<Path>,
  'method' | 'path' | 'id' | 'tag' | 'scope'
> &
  Scoped;

interface Scoped {
  /** What the caller's key has to be good for; `any` where every key will do. */
  scope?: ApiKeyScope | 'any';
}

/**
 * Defines the operations of a group: one calls the tenant's service, or makes its response itself. Each names only the
 * errors of its own, unless it is open: those of its path, query and body are added. By default reading needs the scope
 * `read`, and everything else `deploy`.
 */
export const operationsOf = (tag: string, { scope: scopeOfGroup }: Scoped = {}) =>
  byMethod(
    (method) =>
      <Path extends string, Name extends string = ParameterOf<Path>>(
        path: Path,
        id: string,
        details: ServiceCall<Path, Name> | (Described<Path> & Pick<Operation<Env, Path>, 'handle'>),
      ): Operation<Env> => {
        const needed = details.scope ?? scopeOfGroup ?? (method === 'get' ? 'read' : 'deploy');
        const scope = details.open || needed === 'any' ? undefined : needed;
        const named = { method, path, id, tag, scope, errors: allErrors(path, details) };
        const scoped =
          (handle: (c: Context<Env>) => Response | Promise<Response>) =>
          (c: Context<Env>): Response | Promise<Response> => {
            if (scope === undefined || allowsScope(c.var.scopes, scope)) return handle(c);
            const { detail, status } = scopeRefusal(scope, c.var.scopes);
            return c.json({ detail }, status);
          };
        if ('handle' in details) return { ...details, ...named, handle: scoped(details.handle) };
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
        return { ...description, ...named, handle: scoped(handle) };
      },
  );

const sendJson = (c: Context<Env>, body: unknown, status: 200 | 201): Response => c.json(body, status);

function allErrors(path: string, { query, body, open, errors = [] }: Described) {
  if (open) return errors;
  const ofPath = path.includes(':') ? [404, 422] : [];
  const ofBody = body ? [413, 415, 422] : [];
  return [...new Set([...errors, ...ofPath, ...(query ? [422] : []), ...ofBody])].toSorted((a, b) => a - b);
}
