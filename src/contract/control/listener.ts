import * as z from 'zod';

/** A listener: something beside a cluster that carries out revisions there (control-service.md, `GET /v2/listeners`). */
export const listener = z.looseObject({
  id: z.string(),
  version: z.string().nullish(),
  /** `k8s` is the one compute type known. */
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
