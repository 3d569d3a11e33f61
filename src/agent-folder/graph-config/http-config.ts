import * as z from 'zod';
import { modulePath } from './graph-path.ts';

/** Case-insensitive patterns of header names; `*` matches any text. */
const headerPatterns = z.array(z.string().min(1)).nullable().optional();

/**
 * Selects headers of a request: those that match `includes` (by default all) and not `excludes`. Like the public
 * service, this accepts the singular of both keys.
 */
export const headerRules = z.strictObject({
  include: headerPatterns,
  includes: headerPatterns,
  exclude: headerPatterns,
  excludes: headerPatterns,
});
export type HeaderRules = z.infer<typeof headerRules>;

/** Which origins may call the server from a browser. */
export const corsConfig = z.strictObject({
  /** Origins such as `https://app.example.test`, or `*`. */
  allow_origins: z.array(z.string().min(1)).optional(),
  allow_methods: z.array(z.string().min(1)).optional(),
  allow_headers: z.array(z.string().min(1)).optional(),
  allow_credentials: z.boolean().optional(),
  /** A regular expression that must match the whole origin. */
  allow_origin_regex: z.string().min(1).optional(),
  expose_headers: z.array(z.string().min(1)).optional(),
  /** How long (seconds) a browser may cache a preflight response. */
  max_age: z.int().min(0).optional(),
});
export type CorsConfig = z.infer<typeof corsConfig>;

/** The key `http`: it disables routes, and configures the server. */
export const httpConfig = z.strictObject({
  /** The agent's own HTTP application: a file and its export, such as `./src/app.ts:app`. */
  app: modulePath.optional(),
  disable_assistants: z.boolean().optional(),
  disable_threads: z.boolean().optional(),
  disable_runs: z.boolean().optional(),
  disable_store: z.boolean().optional(),
  disable_mcp: z.boolean().optional(),
  disable_a2a: z.boolean().optional(),
  disable_meta: z.boolean().optional(),
  disable_ui: z.boolean().optional(),
  /** If true, runs work but webhooks are not sent (section "Webhook configuration"). */
  disable_webhooks: z.boolean().optional(),
  cors: corsConfig.nullable().optional(),
  configurable_headers: headerRules.nullable().optional(),
  logging_headers: headerRules.nullable().optional(),
  middleware_order: z.enum(['auth_first', 'middleware_first']).nullable().optional(),
  enable_custom_route_auth: z.boolean().optional(),
  /** The prefix of every route's path, such as `/api`. */
  mount_prefix: z
    .string()
    .regex(/^\/[^/?#\s]+(?:\/[^/?#\s]+)*\/?$/, { error: 'must be a path that begins with `/`, such as `/api`' })
    .optional(),
});
export type HttpConfig = z.infer<typeof httpConfig>;
