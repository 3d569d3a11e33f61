/** The objects of a cluster by kind, namespace and name, their owners, and the history of changes. */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { isObject } from '../../../../src/kit/json-object.ts';
import { admissionProblems } from './admission.ts';
import { applied, type Fields, type Json } from './apply.ts';
import { schemaProblems } from './schemas.ts';

/** The kinds that are served, by their name in paths. */
export const resources: Record<string, { apiVersion: string; kind: string }> = {
  namespaces: { apiVersion: 'v1', kind: 'Namespace' },
  serviceaccounts: { apiVersion: 'v1', kind: 'ServiceAccount' },
  secrets: { apiVersion: 'v1', kind: 'Secret' },
  persistentvolumeclaims: { apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
  services: { apiVersion: 'v1', kind: 'Service' },
  pods: { apiVersion: 'v1', kind: 'Pod' },
  events: { apiVersion: 'v1', kind: 'Event' },
  statefulsets: { apiVersion: 'apps/v1', kind: 'StatefulSet' },
  deployments: { apiVersion: 'apps/v1', kind: 'Deployment' },
  horizontalpodautoscalers: { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' },
};

const stored = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    generation: z.number().default(0),
    resourceVersion: z.string().default('0'),
    labels: z.record(z.string(), z.string()).default({}),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
  spec: z.record(z.string(), z.unknown()).optional(),
  status: z.record(z.string(), z.unknown()).optional(),
});
/** An object as the cluster stores and returns it. */
export type Stored = z.infer<typeof stored>;

/** An error response of the API server. */
export class Refusal extends Error {
  readonly code: number;
  readonly reason: string;

  constructor(code: number, reason: string, message: string) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

/** One event of a watch. */
export interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  resource: string;
  version: number;
  object: Stored;
}

/** A cluster's memory. */
export interface ClusterState {
  changes: Change[];
  /** The version of the newest change. */
  version(): number;
  get(resource: string, namespace: string | undefined, name: string): Stored;
  list(resource: string, namespace?: string): Stored[];
  /** Creates an object as another user would: without ownership, but validated against the schemas. */
  put(object: Json): Stored;
  apply(
    resource: string,
    configuration: Json,
    manager: string,
    force: boolean,
    strict: boolean,
  ): { object: Stored; isNew: boolean };
  remove(resource: string, namespace: string | undefined, name: string): Stored;
  /** Who owns which fields of an object. */
  managersOf(resource: string, namespace: string | undefined, name: string): ReadonlyMap<string, Fields>;
  /** Makes another manager the owner of a field, with a given value. */
  own(resource: string, namespace: string, name: string, manager: string, configuration: Json): void;
}

const keyOf = (resource: string, namespace: string | undefined, name: string): string =>
  `${resource}/${namespace ?? ''}/${name}`;

/** A cluster that holds nothing. */
export function clusterState(onChange: (change: Change) => void): ClusterState {
  const objects = new Map<string, Stored>();
  const owners = new Map<string, Map<string, Fields>>();
  const changes: Change[] = [];
  let version = 1;

  function keep(resource: string, object: Stored, type: Change['type']): Stored {
    version += 1;
    object.metadata.resourceVersion = String(version);
    const key = keyOf(resource, object.metadata.namespace, object.metadata.name);
    if (type === 'DELETED') objects.delete(key);
    else objects.set(key, object);
    const change = { type, resource, version, object: structuredClone(object) };
    changes.push(change);
    onChange(change);
    return object;
  }

  function resourceOf(object: Json): string {
    const found = Object.entries(resources).find(([, { kind }]) => kind === object['kind']);
    if (!found) throw new Error(`no resource of kind ${String(object['kind'])}`);
    return found[0];
  }

  function judged(object: Json, before: Stored | undefined): Stored {
    const kind = String(object['kind']);
    const name = isObject(object['metadata']) ? String(object['metadata']['name']) : '';
    const problems = schemaProblems(object);
    if (problems.length === 0) problems.push(...admissionProblems(object, before));
    if (problems.length > 0) throw new Refusal(422, 'Invalid', `${kind} "${name}" is invalid: ${problems.join(', ')}`);
    return stored.parse(object);
  }

  function stamped(object: Stored, before: Stored | undefined): Stored {
    const isChanged = JSON.stringify(before?.spec) !== JSON.stringify(object.spec);
    const generation = before ? before.metadata.generation + (isChanged ? 1 : 0) : 1;
    const uid = before?.metadata['uid'] ?? randomUUID();
    const creationTimestamp = before?.metadata['creationTimestamp'] ?? new Date().toISOString();
    return { ...object, metadata: { ...object.metadata, generation, uid, creationTimestamp } };
  }

  return {
    changes,
    version: () => version,
    get(resource, namespace, name) {
      const found = objects.get(keyOf(resource, namespace, name));
      if (!found) throw new Refusal(404, 'NotFound', `${resource} "${name}" not found`);
      return found;
    },
    list: (resource, namespace) =>
      [...objects]
        .filter(([key]) => key.startsWith(namespace === undefined ? `${resource}/` : `${resource}/${namespace}/`))
        .map(([, object]) => object),
    put(object) {
      const resource = resourceOf(object);
      const { metadata } = stored.parse(object);
      const before = objects.get(keyOf(resource, metadata.namespace, metadata.name));
      return keep(resource, stamped(judged(object, before), before), before ? 'MODIFIED' : 'ADDED');
    },
    apply(resource, configuration, manager, force, strict) {
      const { metadata } = stored.parse(configuration);
      if (strict) {
        const problems = schemaProblems(configuration);
        if (problems.length > 0) throw new Refusal(400, 'BadRequest', `strict decoding error: ${problems.join(', ')}`);
      }
      const key = keyOf(resource, metadata.namespace, metadata.name);
      const before = objects.get(key);
      const managers = owners.get(key) ?? new Map<string, Fields>();
      const end = applied(before ?? {}, managers, configuration, manager, force);
      if (end.kind === 'conflict') {
        const fields = end.fields.map((path) => `.${path.replaceAll('f:', '').replaceAll('/', '.')}`).join(', ');
        throw new Refusal(
          409,
          'Conflict',
          `Apply failed with ${end.fields.length} conflicts: conflicts with "${end.with}": ${fields}`,
        );
      }
      if (!isObject(end.object)) throw new Error('an apply made no object');
      const object = stamped(judged(end.object, before), before);
      owners.set(key, end.managers);
      const isSame = before && JSON.stringify({ ...before, status: 0 }) === JSON.stringify({ ...object, status: 0 });
      return { object: isSame ? before : keep(resource, object, before ? 'MODIFIED' : 'ADDED'), isNew: !before };
    },
    remove(resource, namespace, name) {
      const found = this.get(resource, namespace, name);
      owners.delete(keyOf(resource, namespace, name));
      return keep(resource, found, 'DELETED');
    },
    managersOf: (resource, namespace, name) =>
      owners.get(keyOf(resource, namespace, name)) ?? new Map<string, Fields>(),
    own(resource, namespace, name, manager, configuration) {
      const key = keyOf(resource, namespace, name);
      const before = this.get(resource, namespace, name);
      const end = applied(before, owners.get(key) ?? new Map<string, Fields>(), configuration, manager, true);
      if (end.kind !== 'applied' || !isObject(end.object)) throw new Error('taking over a field failed');
      owners.set(key, end.managers);
      keep(resource, stamped(stored.parse(end.object), before), 'MODIFIED');
    },
  };
}
