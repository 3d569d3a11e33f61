import * as z from 'zod';
import { freeObject } from '../contract/agent/open-word.ts';
import { modulePath } from './export-path.ts';

/** Who may ask for what, in the agent's own words. */
export const authConfigSchema = z.strictObject({
  /** An instance of the SDK's `Auth`: a file and its export, such as `./src/auth.ts:auth`. */
  path: modulePath.optional(),
  /** False: every caller with a key of the service may act as the Studio's user and skip `authenticate`. */
  disable_studio_auth: z.boolean().optional(),
  /** What the description of the interface says of security, in the words of OpenAPI. */
  openapi: z
    .strictObject({
      securitySchemes: z.record(z.string(), freeObject).optional(),
      security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
      paths: freeObject.optional(),
    })
    .nullable()
    .optional(),
  /** How long an answer of the agent's `authenticate` counts for the same headers. */
  cache: z
    .strictObject({
      cache_keys: z.array(z.string().min(1)).optional(),
      ttl_seconds: z.int().min(0).optional(),
      max_size: z.int().min(1).optional(),
    })
    .nullable()
    .optional(),
});
export type AuthConfig = z.infer<typeof authConfigSchema>;
