import type { Context, Env, Hono } from 'hono';
import type * as z from 'zod';

/** The HTTP methods of operations, in the order in which `Allow` names them. */
const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
type Method = (typeof methods)[number];

/** The response with one status. */
export interface ResponseDescription {
  description: string;
  /** The JSON; none, or what `type` names, where it is absent. */
  schema?: z.ZodType;
  /** The media type where it is not JSON, or of the other form where there is JSON too. */
  type?: string;
}

/** A header that operations read, always optional. */
export interface Header {
  name: string;
  description: string;
}

/** One operation of a service, as the OpenAPI document describes it. */
export interface OperationDescription<Path extends string = string> {
  method: Method;
  /** With named parameters, as in `/v2/deployments/:deployment_id`. */
  path: Path;
  /** Further paths at which it is served, for clients that spell it otherwise. */
  aliases?: readonly string[];
  id: string;
  /** What people call it, without a full stop. */
  summary: string;
  /** More about it, in sentences. */
  description: string;
  /** The group in the document. */
  tag: string;
  query?: z.ZodObject;
  headers?: readonly Header[];
  /** The request body; `required` where nothing happens without it. */
  body?: { schema: z.ZodType; required: boolean } | { type: string; required: true };
  /** The responses: success, and errors with a description of their own. */
  responses: Readonly<Record<number, ResponseDescription>>;
  /** The statuses of its errors, beside those of every operation. */
  errors?: readonly number[];
  /** The scope that its credential needs; absent where any credential will do. */
  scope?: string | undefined;
  /** True where no credential is needed. */
  open?: true;
}

/** An operation with its handler: what is mounted as a route, and described in the OpenAPI document. */
export interface Operation<E extends Env, Path extends string = string> extends OperationDescription<Path> {
  handle(this: void, context: Context<E, Path>): Response | Promise<Response>;
}

/** The functions that define operations, by their method. */
export const byMethod = <Define>(define: (method: Method) => Define) => ({
  get: define('get'),
  post: define('post'),
  put: define('put'),
  patch: define('patch'),
  delete: define('delete'),
});

/** Mounts each operation at its path. */
export function mountOperations<E extends Env>(app: Hono<E>, operations: readonly Operation<E>[]): void {
  for (const { method, path, aliases = [], handle } of operations) {
    app.on(method.toUpperCase(), [path, ...aliases], (context) => handle(context));
  }
}

/** Makes the paths of operations respond to every other method with a 405 that names theirs. */
export function refuseOtherMethods<E extends Env>(app: Hono<E>, operations: readonly Operation<E>[]): void {
  for (const [path, own] of Map.groupBy(operations, (operation) => operation.path)) {
    const allowed = methods
      .filter((method) => own.some((operation) => operation.method === method))
      .map((method) => method.toUpperCase());
    app.all(path, (context) => {
      context.header('Allow', allowed.join(', '));
      return context.json({ detail: `Method Not Allowed: this path takes ${allowed.join(' and ')}.` }, 405);
    });
  }
}
