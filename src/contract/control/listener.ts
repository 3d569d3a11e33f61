import * as z from 'zod';
import { dnsLabel } from './container.ts';

/** The compute types of listeners; `k8s` is the only one known (the public service's `ListenerCreateRequest`). */
const computeTypes = ['k8s'] as const;
export const computeType = z.enum(computeTypes);

const maxNamespaces = 100;

/** The configuration by compute type. Deployments may use `k8s_namespaces`; null, absent and empty allow any. */
export const listenerComputeConfig = z.strictObject({
  k8s_namespaces: z.array(dnsLabel).max(maxNamespaces).nullish(),
});

const version = z.string().min(1).max(255).nullish();

/** The body of POST /v2/listeners (`ListenerCreateRequest`). `compute_id` is unique within a tenant. */
export const listenerCreateRequest = z.strictObject({
  version,
  compute_type: computeType,
  /** The caller's name for the compute, such as a cluster's name. Can't be changed. */
  compute_id: z.string().regex(/^[\x21-\x7e]{1,255}$/, 'must have 1 to 255 visible ASCII characters and no blanks'),
  compute_config: listenerComputeConfig,
});
export type ListenerCreateRequest = z.infer<typeof listenerCreateRequest>;

/** The body of PATCH /v2/listeners/{id} (`ListenerPatchRequest`): an absent or null field does not change. */
export const listenerPatchRequest = z.strictObject({ version, compute_config: listenerComputeConfig.nullish() });
export type ListenerPatchRequest = z.infer<typeof listenerPatchRequest>;

/** A listener: deploys revisions in a cluster (docs/design/contract.md#endpoints). */
export const listener = z.looseObject({
  id: z.string(),
  version: z.string().nullish(),
  /** One of `computeTypes`, or a newer value. */
  compute_type: z.string(),
  compute_id: z.string().optional(),
  compute_config: z.looseObject({ k8s_namespaces: z.array(z.string()).nullish() }).nullish(),
  /** When the listener last claimed, renewed or reported work, to the minute; null before its first claim. */
  last_report_at: z.string().nullish(),
  created_at: z.string().optional(),
  updated_at: z.string().optional(),
});
export type Listener = z.infer<typeof listener>;

export const listenersList = z.looseObject({ resources: z.array(listener), offset: z.int() });
export type ListenersList = z.infer<typeof listenersList>;
