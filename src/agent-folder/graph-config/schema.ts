import * as z from 'zod';
import { freeObject } from '../../contract/agent/open-word.ts';
import { webhooksConfig } from '../../contract/agent/webhook.ts';
import { httpConfig } from './http-config.ts';
import { checkpointerConfig, storeConfig } from './retention.ts';
import { exportPath, modulePath } from './graph-path.ts';

/** The agent's own authentication and authorization. */
const authConfigSchema = z.strictObject({
  /** An instance of the SDK's `Auth`: a file and its export, such as `./src/auth.ts:auth`. */
  path: modulePath.optional(),
  /** False: every caller with a key of the service may act as the Studio's user and skip `authenticate`. */
  disable_studio_auth: z.boolean().optional(),
  /** The security parts of the agent's OpenAPI document. */
  openapi: z
    .strictObject({
      securitySchemes: z.record(z.string(), freeObject).optional(),
      security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
      paths: freeObject.optional(),
    })
    .nullable()
    .optional(),
  /** How long a result of the agent's `authenticate` is cached for the same headers. */
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

/** The source of packages for graphs in Python instead of `dependencies`: a uv workspace with its uv.lock. */
const uvSource = z.strictObject({
  kind: z.literal('uv'),
  /** The folder with pyproject.toml and uv.lock, relative to the configuration's folder, which is the default. */
  root: z.string().min(1).optional(),
  /** The workspace member to install; by default the one that contains the configuration. */
  package: z
    .string()
    .regex(/^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$/, { error: 'must be the name of a package' })
    .nullable()
    .optional(),
});

/** One graph: its path, or an object with the path and a description for people. */
const graphEntry = z.union([
  exportPath,
  z.strictObject({ path: exportPath, description: z.string().nullable().optional() }),
]);

/**
 * The graph configuration file with all keys of the public service. Only `graphs` is required. The keys about images
 * have no effect here, and are validated to find typos.
 */
export const graphConfig = z.strictObject({
  $schema: z.string().optional(),
  graphs: z
    .record(z.string().min(1), graphEntry)
    .refine((graphs) => Object.keys(graphs).length > 0, { error: 'must name at least one graph' }),
  /** Variables of the agent's environment: an object, or the path of a file with lines `NAME=value`. */
  env: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
  node_version: z.union([z.string(), z.int()]).nullable().optional(),
  python_version: z.string().nullable().optional(),
  dependencies: z.array(z.string()).optional(),
  source: uvSource.nullable().optional(),
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
  store: storeConfig.nullable().optional(),
  checkpointer: checkpointerConfig.nullable().optional(),
  auth: authConfigSchema.nullable().optional(),
  encryption: freeObject.nullable().optional(),
  http: httpConfig.nullable().optional(),
  webhooks: webhooksConfig.nullable().optional(),
  /** Modules whose default exports map names to React components, by a graph's id or any other name. */
  ui: z.record(z.string().min(1), modulePath).nullable().optional(),
  /** `shared`: packages that the page provides beside React. */
  ui_config: z
    .strictObject({ shared: z.array(z.string().min(1)).optional() })
    .nullable()
    .optional(),
  _INTERNAL_docker_tag: z.string().nullable().optional(),
});
export type GraphConfig = z.infer<typeof graphConfig>;
