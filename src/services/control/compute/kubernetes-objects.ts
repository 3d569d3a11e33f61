import * as z from 'zod';
import { fromJson } from '../../../kit/json-text.ts';
import { ServiceError } from '../../../contract/service-error.ts';
import { kindsOfParts, kinds, pathOf, type Kind, type Manifest, labelKeys, manager } from '../kubernetes/manifest.ts';
import type { Connection } from './kubernetes-connection.ts';

const texts = z.record(z.string(), z.string());

const clusterObject = z.looseObject({
  metadata: z.looseObject({ name: z.string(), labels: texts.default({}), annotations: texts.default({}) }),
});
export type ClusterObject = z.infer<typeof clusterObject>;

const list = z.looseObject({ items: z.array(clusterObject) });

/** An object of a deployment, with its kind, which the cluster's lists omit. */
export interface OwnObject {
  kind: Kind;
  name: string;
  object: ClusterObject;
}

/** The objects of one namespace. Requests end when `signal` aborts; a write is not sent where `check` throws. */
export function objectsIn(
  connection: Connection,
  namespace: string,
  signal: AbortSignal | undefined,
  check: (() => void) | undefined,
) {
  const parse = <T>(operation: string, path: string, text: string, shape: z.ZodType<T>): T => {
    const parsed = shape.safeParse(fromJson(text));
    if (parsed.success) return parsed.data;
    const address = `${connection.server}${path}`;
    throw new ServiceError({ kind: 'unreadable', operation, method: 'GET', address, effect: 'none' });
  };
  const get = (operation: string, path: string, query?: Record<string, string>): Promise<string> =>
    connection.send({ operation, method: 'GET', path, ...(query && { query }), signal });
  const objects = {
    namespace,
    /** The namespace's own path in the cluster's API. */
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}`,
    /** The object at a path, or undefined where there is none. */
    async read(operation: string, path: string): Promise<ClusterObject | undefined> {
      const text = await unlessMissing(get(operation, path));
      return text === undefined ? undefined : parse(operation, path, text, clusterObject);
    },
    /** The objects at a path that a selector matches. */
    async list(operation: string, path: string, query: Record<string, string>): Promise<ClusterObject[]> {
      return parse(operation, path, await get(operation, path, query), list).items;
    },
    text: get,
    /** All objects of a deployment. */
    async owned(deploymentId: string): Promise<OwnObject[]> {
      const labelSelector = `${labelKeys.deployment}=${deploymentId}`;
      const found = await Promise.all(
        kindsOfParts.map(async (kind) => {
          const path = pathOf(kind, namespace);
          const items = await objects.list(`list ${kinds[kind].plural}`, path, { labelSelector });
          return items.map((object) => ({ kind, name: object.metadata.name, object }));
        }),
      );
      return found.flat();
    },
    /** Server-side apply. `isOurs` forces fields that others have changed; else another owner's object is a conflict. */
    async apply(manifest: Manifest, isOurs: boolean): Promise<void> {
      await connection.send({
        operation: `apply ${manifest.kind} ${manifest.metadata.name}`,
        method: 'PATCH',
        path: pathOf(manifest.kind, namespace, manifest.metadata.name),
        // Strict: otherwise the cluster would silently drop unknown fields.
        query: { fieldManager: manager, force: String(isOurs), fieldValidation: 'Strict' },
        body: manifest,
        signal,
        check,
      });
    },
    /** Deletes an object with its dependents; ignores one that is gone. */
    async remove(kind: Kind, name: string): Promise<void> {
      const [operation, path] = [`delete ${kind} ${name}`, pathOf(kind, namespace, name)];
      const query = { propagationPolicy: 'Background' };
      await unlessMissing(connection.send({ operation, method: 'DELETE', path, query, signal, check }));
    },
  };
  return objects;
}
export type Objects = ReturnType<typeof objectsIn>;

/** Resolves with undefined on a 404 of the cluster itself. A 404 without a `Status` came from a proxy: rethrows it. */
async function unlessMissing(sent: Promise<string>): Promise<string | undefined> {
  try {
    return await sent;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'missing' && error.detail !== undefined) return undefined;
    throw error;
  }
}
