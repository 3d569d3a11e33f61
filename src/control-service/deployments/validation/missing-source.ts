import type { Source, SourceRevisionConfigRequest } from '../../../contract/control/source.ts';

/**
 * What a revision without a complete source waits for (our choice: control-service.md leaves open what the first revision
 * is of a deployment whose source arrives later). Undefined where it can start.
 */
export function missingSource({
  source,
  source_revision_config,
}: {
  source: Source;
  source_revision_config: SourceRevisionConfigRequest;
}): string | undefined {
  if (source === 'internal_source' && !source_revision_config.source_tarball_path) {
    return 'It waits for the source: ask for an address with POST /v2/deployments/{deployment_id}/upload-url, put the tarball there, and name its object path as source_revision_config.source_tarball_path in a PATCH.';
  }
  if (source === 'internal_docker' && !source_revision_config.image_uri) {
    return 'It waits for an image: push one and name it as source_revision_config.image_uri in a PATCH.';
  }
  return undefined;
}
