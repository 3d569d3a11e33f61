/**
 * What is known of a path that a request names: whether it was handed out for this very deployment, and whether a tarball
 * was put there and still is.
 */
export type NamedTarball = 'stored' | 'handed-out' | 'removed' | 'unknown';

const field = 'source_revision_config.source_tarball_path';
const upload = 'POST /deployments/{deployment_id}/upload-url';

/** The sentence against a `source_tarball_path`, where there is one: arbitrary paths are rejected. */
export function tarballProblem(known: NamedTarball): string | undefined {
  switch (known) {
    case 'stored':
      return undefined;
    case 'handed-out':
      return `${field}: nothing has been put there yet. Put the tarball at the upload_url that came with the path, and send this again.`;
    case 'removed':
      return `${field}: the tarball was removed for its age. Upload it again, at an address of ${upload}.`;
    case 'unknown':
      return `${field} was not handed out by ${upload} for this deployment.`;
  }
}
