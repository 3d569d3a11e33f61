/** The API path, group and version of each kind. */
export const kinds = {
  Secret: { apiVersion: 'v1', plural: 'secrets' },
  PersistentVolumeClaim: { apiVersion: 'v1', plural: 'persistentvolumeclaims' },
  Service: { apiVersion: 'v1', plural: 'services' },
  StatefulSet: { apiVersion: 'apps/v1', plural: 'statefulsets' },
  Deployment: { apiVersion: 'apps/v1', plural: 'deployments' },
  HorizontalPodAutoscaler: { apiVersion: 'autoscaling/v2', plural: 'horizontalpodautoscalers' },
} as const;

/** A kind of object in a deployment. */
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

/** The metadata of an object. */
export interface ObjectMeta {
  name: string;
  namespace: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

/** An object for the cluster's API: JSON without nulls. */
export interface Manifest {
  apiVersion: string;
  kind: Kind;
  metadata: ObjectMeta;
  /** Of a Secret. */
  type?: string;
  /** Of a Secret: values in base64. */
  data?: Record<string, string>;
  spec?: Record<string, unknown>;
}

/** The path of the objects of a kind, or of one of them, in the cluster's API. */
export function pathOf(kind: Kind, namespace: string, name?: string): string {
  const { apiVersion, plural } = kinds[kind];
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const all = `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
  return name === undefined ? all : `${all}/${encodeURIComponent(name)}`;
}

/** An object without undefined and null values: the cluster's API refuses nulls in some places. */
export function withoutNulls(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}

/** The `apiVersion` and `kind` of an object. */
export const head = (kind: Kind): Pick<Manifest, 'apiVersion' | 'kind'> => ({
  apiVersion: kinds[kind].apiVersion,
  kind,
});
