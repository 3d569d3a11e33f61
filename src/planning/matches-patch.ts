import type { Deployment, DeploymentPatchRequest } from '../contract/control/deployment.ts';
import type { Revision } from '../contract/control/revision.ts';
import { heldAt, sameField } from './plan-fields.ts';
import { sameResources } from './plan-resources.ts';
import { compareReferences, compareSecrets } from './plan-secrets.ts';

/**
 * Whether a revision was made from the source of a PATCH, to resolve a lost response. Any client may have made it.
 * `digest` is that of the uploaded tarball: another client's upload of the same folder has another path.
 */
export function carriesSource(request: DeploymentPatchRequest, revision: Revision, digest?: string): boolean {
  return Object.entries(request.source_revision_config ?? {}).every(
    ([field, requested]) =>
      typeof requested !== 'string' ||
      (field === 'source_tarball_path' &&
        digest !== undefined &&
        digest === revision.source_revision_config.source_tarball_digest) ||
      sameField(
        `source_revision_config.${field}`,
        requested,
        Object.entries(revision.source_revision_config).find(([name]) => name === field)?.[1],
      ),
  );
}

/** Whether a deployment holds everything that a PATCH requested, apart from the source. */
export function holdsSettings(request: DeploymentPatchRequest, deployment: Deployment): boolean {
  const { listener_config, resource_spec, ...plain } = request.source_config ?? {};
  const settings: [path: string, requested: unknown][] = [
    ...Object.entries(plain).map(([field, requested]): [string, unknown] => [`source_config.${field}`, requested]),
    ['source_config.listener_config.k8s_namespace', listener_config?.k8s_namespace],
  ];
  return (
    settings.every(
      ([path, requested]) =>
        (typeof requested !== 'string' && typeof requested !== 'boolean') ||
        sameField(path, requested, heldAt(deployment, path)),
    ) &&
    (resource_spec == null || sameResources(resource_spec, deployment.source_config.resource_spec)) &&
    (request.secrets == null ||
      compareSecrets(request.secrets, 'overwrite', deployment.secrets).changes.length === 0) &&
    compareReferences(request.secret_references ?? undefined, deployment.secret_references).length === 0
  );
}
