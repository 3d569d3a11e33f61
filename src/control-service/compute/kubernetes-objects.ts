import * as z from 'zod';
import { fromJson } from '../../contract/json-text.ts';
import { ServiceError } from '../../contract/service-error.ts';
import { kindsOfParts, kinds, pathOf, type Kind, type Manifest, labelKeys, manager } from '../kubernetes/manifest.ts';
import type { Connection } from './kubernetes-connection.ts';

const texts = z.record(z.string(), z.string());

const clusterObject = z.looseObject({
  metadata: z.looseObject({
    name: z.string(),
    labels: texts.default({}),
    annotations: texts.default({}),
  }),
});
export type ClusterObject = z.infer<typeof clusterObject>;

const list = z.looseObject({ items: z.array(clusterObject) });

/** An object of ours with its kind, which lists leave out. */
export interface OwnObject {
  kind: Kind;
  name: string;
  object: ClusterObject;
}

export interface Objects {
  namespace: string;
  /** The object at a path, or undefined where there is none. */
  read(operation: string, path: string): Promise<ClusterObject | undefined>;
  /** The objects at a path that a selector matches. */
  list(operation: string, path: string, query: Record<string, string>): Promise<ClusterObject[]>;
  /** The text at a path: the log of a container. */
  text(operation: string, path: string, query: Record<string, string>): Promise<string>;
  owned(deploymentId: string): Promise<OwnObject[]>;
  /**
   * Server-side apply. `isOurs` forces fields that others have changed since; without it an object of another owner stays
   * as it is and the result is a conflict.
   */
  apply(manifest: Manifest, isOurs: boolean): Promise<void>;
  /** Deletes an object with its dependents; ignores one that is gone. */
  remove(kind: Kind, name: string): Promise<void>;
}

/** The objects of one namespace. Requests end when `signal` aborts; a write is not sent where `check` throws. */
export function objectsIn(
  connection: Connection,
  namespace: string,
  signal?: AbortSignal,
  check?: () => void,
): Objects {
  const read = <T>(operation: string, path: string, text: string, shape: z.ZodType<T>): T => {
    const parsed = shape.safeParse(fromJson(text));
    if (parsed.success) return parsed.data;
    const address = `${connection.server}${path}`;
    throw new ServiceError({ kind: 'unreadable', operation, method: 'GET', address, effect: 'none' });
  };
  const objects: Objects = {
    namespace,
    async read(operation, path) {
      const text = await unlessMissing(connection.send({ operation, method: 'GET', path, signal }));
      return text === undefined ? undefined : read(operation, path, text, clusterObject);
    },
    async list(operation, path, query) {
      return read(operation, path, await connection.send({ operation, method: 'GET', path, query, signal }), list)
        .items;
    },
    text: (operation, path, query) => connection.send({ operation, method: 'GET', path, query, signal }),
    async owned(deploymentId) {
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
    async apply(manifest, isOurs) {
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
    async remove(kind, name) {
      const path = pathOf(kind, namespace, name);
      const query = { propagationPolicy: 'Background' };
      await unlessMissing(
        connection.send({ operation: `delete ${kind} ${name}`, method: 'DELETE', path, query, signal, check }),
      );
    },
  };
  return objects;
}

/** A 404 from the cluster itself; one without its `Status` is from something in between. */
async function unlessMissing(sent: Promise<string>): Promise<string | undefined> {
  try {
    return await sent;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === 'missing' && error.detail !== undefined) return undefined;
    throw error;
  }
}
