import * as z from 'zod';
import { dnsLabel } from './container.ts';
import { resourceSpec, resourceSpecReply } from './resource-spec.ts';

/** What a deployment is built from (docs/design/contract.md#deployments: `source`). */
export const sources = ['github', 'external_docker', 'internal_docker', 'internal_source'] as const;
export const source = z.enum(sources);
export type Source = z.infer<typeof source>;

/** The types of a deployment (docs/design/contract.md#deployment-settings). */
export const deploymentTypes = ['dev_free', 'dev', 'prod'] as const;
export const deploymentType = z.enum(deploymentTypes);
export type DeploymentType = z.infer<typeof deploymentType>;

/** Only for listeners whose compute type is `k8s` (docs/design/contract.md#deployment-settings). */
export const listenerConfig = z.strictObject({ k8s_namespace: dnsLabel.nullish() });

const text = z.string().min(1).nullable();
/** The values of a response are not validated, because other services may have others. */
const anyText = z.string().nullable();

/**
 * The type of each deployment-level setting (docs/design/contract.md#deployment-settings), from which requests,
 * responses and the OpenAPI document derive. All may be null; `field-table.ts` says which apply to a source, and the
 * effect of changing each.
 */
export const sourceConfigTypes = {
  integration_id: z.uuid().toLowerCase().nullable(),
  repo_url: text,
  deployment_type: deploymentType.nullable(),
  build_on_push: z.boolean().nullable(),
  custom_url: text,
  resource_spec: resourceSpec.nullable(),
  listener_id: z.uuid().toLowerCase().nullable(),
  listener_config: listenerConfig.nullable(),
  install_command: text,
  build_command: text,
};
export const sourceConfigRequest = z.strictObject(sourceConfigTypes).partial();
export type SourceConfigRequest = z.infer<typeof sourceConfigRequest>;

/** The type of each revision-level setting of a request (docs/design/contract.md#revision-settings). */
export const sourceRevisionConfigTypes = {
  repo_ref: text,
  graph_config_path: text,
  image_uri: text,
  source_tarball_path: text,
};
export const sourceRevisionConfigRequest = z.strictObject(sourceRevisionConfigTypes).partial();
export type SourceRevisionConfigRequest = z.infer<typeof sourceRevisionConfigRequest>;

/** `source_config` in a response: unknown fields and enum values are kept. */
export const sourceConfig = z
  .looseObject({
    ...sourceConfigTypes,
    integration_id: anyText,
    repo_url: anyText,
    deployment_type: anyText,
    custom_url: anyText,
    resource_spec: resourceSpecReply.nullable(),
    listener_id: anyText,
    listener_config: z.looseObject({ k8s_namespace: z.string().nullish() }).nullable(),
    install_command: anyText,
    build_command: anyText,
  })
  .partial();

/** `source_revision_config` in a response, with the commit that was built. */
export const sourceRevisionConfig = z
  .looseObject({
    repo_ref: anyText,
    graph_config_path: anyText,
    image_uri: anyText,
    source_tarball_path: anyText,
    /** Read-only: the commit that this revision was built from. */
    repo_commit_sha: anyText,
    /** Read-only, our addition: `sha256:` and the hex digest of the uploaded tarball; null if there is none. */
    source_tarball_digest: anyText,
  })
  .partial();
export type SourceRevisionConfig = z.infer<typeof sourceRevisionConfig>;
