import { trimEndOf, trimStartOf } from '../../../kit/plain-text.ts';

/** The API path, group and version of each kind. */
export const kinds = {
  Secret: { apiVersion: 'v1', plural: 'secrets' },
  PersistentVolumeClaim: { apiVersion: 'v1', plural: 'persistentvolumeclaims' },
  Service: { apiVersion: 'v1', plural: 'services' },
  StatefulSet: { apiVersion: 'apps/v1', plural: 'statefulsets' },
  Deployment: { apiVersion: 'apps/v1', plural: 'deployments' },
  HorizontalPodAutoscaler: { apiVersion: 'autoscaling/v2', plural: 'horizontalpodautoscalers' },
} as const;

export type Kind = keyof typeof kinds;

/** All kinds in a deployment, in the order in which their objects are applied. */
export const kindsOfParts: readonly Kind[] = [
  'Secret',
  'PersistentVolumeClaim',
  'Service',
  'StatefulSet',
  'Deployment',
  'HorizontalPodAutoscaler',
];

/** The parts of a deployment: agent, queue workers, and their dependencies. */
export type Part = 'agent' | 'queue' | 'cache' | 'database';

export interface ObjectMeta {
  name: string;
  namespace: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

export interface Manifest {
  apiVersion: string;
  kind: Kind;
  metadata: ObjectMeta;
  type?: string;
  /** Of a Secret: values in base64. */
  data?: Record<string, string>;
  spec?: Record<string, unknown>;
}

/** The path of a kind's objects, or of one of them, in the cluster's API. */
export function pathOf(kind: Kind, namespace: string, name?: string): string {
  const { apiVersion, plural } = kinds[kind];
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const all = `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
  return name === undefined ? all : `${all}/${encodeURIComponent(name)}`;
}

/** An object without undefined and null values: the cluster's API refuses nulls in some places. */
export const withoutNulls = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));

export const head = (kind: Kind) => ({ apiVersion: kinds[kind].apiVersion, kind });

export const labelKeys = {
  deployment: 'landfall/deployment-id',
  revision: 'landfall/revision-id',
  name: 'app.kubernetes.io/name',
  instance: 'app.kubernetes.io/instance',
  component: 'app.kubernetes.io/component',
  managedBy: 'app.kubernetes.io/managed-by',
} as const;

/** Our field manager for server-side apply, and the `managed-by` label of our objects. */
export const manager = 'landfall';

/** The distinct part of an id: its end, since ids in time order share their start. */
const tail = (id: string): string =>
  id
    .toLowerCase()
    .replaceAll(/[^0-9a-z]/g, '')
    .slice(-8);

/** Leaves room for suffixes of parts and of the cluster's controllers: a label has 63 characters. */
const maxNameLength = 31;

/**
 * The name of a deployment's objects: its name, cut where it is long, and the end of its id. It never changes, is a DNS
 * label that begins with a letter, as required for a Service, and is unique.
 */
export function baseName({ name, id }: { name: string; id: string }): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-');
  const started = /^[a-z]/.test(plain) ? plain : `d-${plain.replace(/^-+/, '')}`;
  return `${trimEndOf(started.slice(0, maxNameLength), '-')}-${tail(id)}`;
}

const suffixes: Record<Part, string> = { agent: '', queue: '-queue', cache: '-cache', database: '-db' };

export const partName = (base: string, part: Part): string => `${base}${suffixes[part]}`;

/** The name of a revision's own Secret: restarting pods of the previous revision keep their values. */
export const environmentName = (base: string, revisionId: string): string => `${base}-env-${tail(revisionId)}`;

/** The selector of a part's pods. It can never change, so it has nothing that a revision could change. */
export const selectorOf = (base: string, part: Part): Record<string, string> => ({
  [labelKeys.instance]: base,
  [labelKeys.component]: part,
});

export const asQuery = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** A text as a label's value: truncated, with invalid characters replaced. */
export const asLabel = (text: string): string =>
  trimEndOf(trimStartOf(text.replaceAll(/[^\w.-]+/g, '-').slice(0, 63), '_.-'), '_.-');
