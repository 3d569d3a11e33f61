import * as z from 'zod';
import { resourceSpec, resourceSpecReply } from './resource-spec.ts';

/** What a deployment is built from (control-service.md, Deployment: `source`). */
export const sources = ['github', 'external_docker', 'internal_docker', 'internal_source'] as const;
/** One of `sources`, as it is sent. */
export const source = z.enum(sources);
export type Source = z.infer<typeof source>;

/** control-service.md, source_config: `deployment_type`. */
export const deploymentTypes = ['dev_free', 'dev', 'prod'] as const;
/** One of `deploymentTypes`, as it is sent. */
export const deploymentType = z.enum(deploymentTypes);
export type DeploymentType = z.infer<typeof deploymentType>;

/** control-service.md, ListenerConfig: only for listeners whose compute type is `k8s`. */
export const listenerConfig = z.strictObject({ k8s_namespace: z.string().min(1).nullish() });

/**
 * The deployment-level settings (control-service.md, source_config). All may be null; `field-table.ts` says which apply to
 * a source, and the effect of changing each.
 */
export const sourceConfigRequest = z.strictObject({
  integration_id: z.uuid().nullish(),
  repo_url: z.string().min(1).nullish(),
  deployment_type: deploymentType.nullish(),
  build_on_push: z.boolean().nullish(),
  custom_url: z.string().min(1).nullish(),
  resource_spec: resourceSpec.nullish(),
  listener_id: z.uuid().nullish(),
  listener_config: listenerConfig.nullish(),
  install_command: z.string().min(1).nullish(),
  build_command: z.string().min(1).nullish(),
});
export type SourceConfigRequest = z.infer<typeof sourceConfigRequest>;

/** The revision-level settings (control-service.md, source_revision_config) in a request. */
export const sourceRevisionConfigRequest = z.strictObject({
  repo_ref: z.string().min(1).nullish(),
  graph_config_path: z.string().min(1).nullish(),
  image_uri: z.string().min(1).nullish(),
  source_tarball_path: z.string().min(1).nullish(),
});
export type SourceRevisionConfigRequest = z.infer<typeof sourceRevisionConfigRequest>;

/** `source_config` in a response: unknown fields and enum values are kept. */
export const sourceConfig = z.looseObject({
  integration_id: z.string().nullish(),
  repo_url: z.string().nullish(),
  deployment_type: z.string().nullish(),
  build_on_push: z.boolean().nullish(),
  custom_url: z.string().nullish(),
  resource_spec: resourceSpecReply.nullish(),
  listener_id: z.string().nullish(),
  listener_config: z.looseObject({ k8s_namespace: z.string().nullish() }).nullish(),
  install_command: z.string().nullish(),
  build_command: z.string().nullish(),
});
export type SourceConfig = z.infer<typeof sourceConfig>;

/** `source_revision_config` in a response, with the commit that was built. */
export const sourceRevisionConfig = z.looseObject({
  repo_ref: z.string().nullish(),
  graph_config_path: z.string().nullish(),
  image_uri: z.string().nullish(),
  source_tarball_path: z.string().nullish(),
  /** Read-only: the commit that this revision was built from. */
  repo_commit_sha: z.string().nullish(),
  /** Read-only, our addition: `sha256:` and the hex digest of the uploaded tarball; null if there is none. */
  source_tarball_digest: z.string().nullish(),
});
export type SourceRevisionConfig = z.infer<typeof sourceRevisionConfig>;
