import * as z from 'zod';
import { freeObject } from './open-word.ts';

/** Response of `GET /ok`. */
export const healthSchema = z.looseObject({ ok: z.boolean() });

/** Response of `GET /info`: the version decides which webhook features exist (section "Versioning"). */
export const serverInfoSchema = z.looseObject({
  version: z.string(),
  flags: freeObject.nullish(),
  metadata: freeObject.nullish(),
});
export type ServerInfo = z.infer<typeof serverInfoSchema>;
