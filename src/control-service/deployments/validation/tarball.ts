/**
 * The state of a path in a request: whether it was issued for this very deployment, and whether a tarball was uploaded
 * there and still exists.
 */
export type NamedTarball = 'stored' | 'issued' | 'removed' | 'unknown';

const field = 'source_revision_config.source_tarball_path';
const upload = 'POST /deployments/{deployment_id}/upload-url';

/** The problem with a `source_tarball_path`, if any: arbitrary paths are rejected. */
export function tarballProblem(known: NamedTarball): string | undefined {
  switch (known) {
    case 'stored':
      return undefined;
    case 'issued':
      return `${field}: nothing has been uploaded there yet. Upload the tarball to the upload_url that was returned with the path, and send this again.`;
    case 'removed':
      return `${field}: the tarball was removed for its age. Upload it again, at an address of ${upload}.`;
    case 'unknown':
      return `${field} was not issued by ${upload} for this deployment.`;
  }
}
