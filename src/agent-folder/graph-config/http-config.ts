import * as z from 'zod';
import { modulePath } from './export-path.ts';

/** Patterns of header names, of letters of either case; `*` stands for any text. */
const headerPatterns = z.array(z.string().min(1)).nullable().optional();

/**
 * Which headers of a request are meant: those of `includes` (all where absent) that no pattern of `excludes` is of. Both
 * have a singular spelling, which the public service takes too.
 */
export const headerRules = z.strictObject({
  include: headerPatterns,
  includes: headerPatterns,
  exclude: headerPatterns,
  excludes: headerPatterns,
});
export type HeaderRules = z.infer<typeof headerRules>;

/** Whose pages may call the server from a browser. */
export const corsConfig = z.strictObject({
  /** Origins such as `https://app.example.test`, or `*`. */
  allow_origins: z.array(z.string().min(1)).optional(),
  allow_methods: z.array(z.string().min(1)).optional(),
  allow_headers: z.array(z.string().min(1)).optional(),
  allow_credentials: z.boolean().optional(),
  /** A regular expression that an origin has to match as a whole. */
  allow_origin_regex: z.string().min(1).optional(),
  expose_headers: z.array(z.string().min(1)).optional(),
  /** How long (seconds) a browser may keep the answer to its preflight. */
  max_age: z.int().min(0).optional(),
});
export type CorsConfig = z.infer<typeof corsConfig>;

/** The keys of `http` that switch routes off, and the ones that shape the server around them. */
export const httpConfig = z.strictObject({
  /** An application of the agent's own: a file and its export, such as `./src/app.ts:app`. */
  app: modulePath.optional(),
  disable_assistants: z.boolean().optional(),
  disable_threads: z.boolean().optional(),
  disable_runs: z.boolean().optional(),
  disable_store: z.boolean().optional(),
  disable_mcp: z.boolean().optional(),
  disable_a2a: z.boolean().optional(),
  disable_meta: z.boolean().optional(),
  disable_ui: z.boolean().optional(),
  /** True: runs go on, webhooks are not sent (section "Webhook configuration"). */
  disable_webhooks: z.boolean().optional(),
  cors: corsConfig.nullable().optional(),
  configurable_headers: headerRules.nullable().optional(),
  logging_headers: headerRules.nullable().optional(),
  middleware_order: z.enum(['auth_first', 'middleware_first']).nullable().optional(),
  enable_custom_route_auth: z.boolean().optional(),
  /** What the path of every route begins with, such as `/api`. */
  mount_prefix: z
    .string()
    .regex(/^\/[^/?#\s]+(?:\/[^/?#\s]+)*\/?$/, { error: 'must be a path that begins with `/`, such as `/api`' })
    .optional(),
});
export type HttpConfig = z.infer<typeof httpConfig>;
