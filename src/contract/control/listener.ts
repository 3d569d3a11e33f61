import * as z from 'zod';
import { dnsLabel } from './container.ts';

/** The compute types that a listener may have; `k8s` is the one known (the public service's `ListenerCreateRequest`). */
const computeTypes = ['k8s'] as const;
/** One of `computeTypes`, as it is sent. */
export const computeType = z.enum(computeTypes);

/** The most namespaces that a listener may be configured for. */
const mostNamespaces = 100;

/**
 * What a listener is configured for, by its compute type (`ListenerComputeConfig`). `k8s_namespaces` are those that
 * deployments may ask for; null, absent and empty let them ask for any.
 */
export const listenerComputeConfig = z.strictObject({
  k8s_namespaces: z.array(dnsLabel).max(mostNamespaces).nullish(),
});

const version = z.string().min(1).max(255).nullish();

/** The body of POST /v2/listeners (`ListenerCreateRequest`). `compute_id` is unique within a tenant. */
export const listenerCreateRequest = z.strictObject({
  version,
  /** Fixed from then on. */
  compute_type: computeType,
  /** The caller's own name of the compute, as the name of a cluster. Fixed from then on. */
  compute_id: z.string().regex(/^[\x21-\x7e]{1,255}$/, 'must have 1 to 255 visible ASCII characters and no blanks'),
  compute_config: listenerComputeConfig,
});
export type ListenerCreateRequest = z.infer<typeof listenerCreateRequest>;

/** The body of PATCH /v2/listeners/{id} (`ListenerPatchRequest`): a field that is absent or null stays as it is. */
export const listenerPatchRequest = z.strictObject({ version, compute_config: listenerComputeConfig.nullish() });
export type ListenerPatchRequest = z.infer<typeof listenerPatchRequest>;

/** A listener: something beside a cluster that carries out revisions there (control-service.md, `GET /v2/listeners`). */
export const listener = z.looseObject({
  id: z.string(),
  version: z.string().nullish(),
  /** One of `computeTypes`, or a word that is newer than that list. */
  compute_type: z.string(),
  compute_id: z.string().optional(),
  compute_config: z.looseObject({ k8s_namespaces: z.array(z.string()).nullish() }).nullish(),
  created_at: z.string().optional(),
  updated_at: z.string().optional(),
});
export type Listener = z.infer<typeof listener>;

/** A page of listeners. */
export const listenersList = z.looseObject({ resources: z.array(listener), offset: z.int() });
export type ListenersList = z.infer<typeof listenersList>;
