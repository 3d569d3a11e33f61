import * as z from 'zod';
import { freeObject } from '../contract/agent/open-word.ts';
import { WebhooksConfig } from '../contract/agent/webhook.ts';

/** The name that the graph configuration file has where nobody says another. */
export const GRAPH_CONFIG_FILE = 'langgraph.json';

/** Where a graph lies: a file below the configuration file's folder and what it exports, `./src/agent.ts:graph`. */
const graphPath = z
  .string()
  .regex(/^.+:[^:\\/]+$/, { error: 'must be a path and an export, such as `./src/agent.ts:graph`' });

/** One graph: its path, or an object with the path and a description for people. */
export const GraphEntry = z.union([
  graphPath,
  z.strictObject({ path: graphPath, description: z.string().nullable().optional() }),
]);
export type GraphEntry = z.infer<typeof GraphEntry>;

/** The keys of `http` that switch routes off, and the ones that shape the server around them. */
export const HttpConfig = z.strictObject({
  app: z.string().optional(),
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
  cors: freeObject.nullable().optional(),
  configurable_headers: freeObject.nullable().optional(),
  logging_headers: freeObject.nullable().optional(),
  middleware_order: z.enum(['auth_first', 'middleware_first']).nullable().optional(),
  enable_custom_route_auth: z.boolean().optional(),
  mount_prefix: z.string().optional(),
});
export type HttpConfig = z.infer<typeof HttpConfig>;

/**
 * The graph configuration file, key by key as the public service knows them. `graphs` is what an agent server needs;
 * the keys about images and Python packages are read so that a person's typing mistake is found, and have no effect here.
 */
export const GraphConfig = z.strictObject({
  $schema: z.string().optional(),
  graphs: z
    .record(z.string().min(1), GraphEntry)
    .refine((graphs) => Object.keys(graphs).length > 0, { error: 'must name at least one graph' }),
  /** Variables of the agent's environment: an object, or the path of a file with lines `NAME=value`. */
  env: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
  node_version: z.union([z.string(), z.int()]).nullable().optional(),
  python_version: z.string().nullable().optional(),
  dependencies: z.array(z.string()).optional(),
  dockerfile_lines: z.array(z.string()).optional(),
  base_image: z.string().nullable().optional(),
  image_distro: z.enum(['debian', 'wolfi', 'bookworm', 'bullseye']).nullable().optional(),
  pip_config_file: z.string().nullable().optional(),
  pip_installer: z.string().nullable().optional(),
  keep_pkg_tools: z
    .union([z.boolean(), z.array(z.string())])
    .nullable()
    .optional(),
  api_version: z.string().nullable().optional(),
  store: freeObject.nullable().optional(),
  checkpointer: freeObject.nullable().optional(),
  auth: freeObject.nullable().optional(),
  encryption: freeObject.nullable().optional(),
  http: HttpConfig.nullable().optional(),
  webhooks: WebhooksConfig.nullable().optional(),
  ui: z.record(z.string(), z.string()).nullable().optional(),
  ui_config: freeObject.nullable().optional(),
  _INTERNAL_docker_tag: z.string().nullable().optional(),
});
export type GraphConfig = z.infer<typeof GraphConfig>;
