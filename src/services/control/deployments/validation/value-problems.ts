import {
  deploymentNameProblem,
  maxDeploymentNameLength,
  graphConfigPathProblem as wrongGraphConfigPath,
  imageUriProblem,
  refusedInCommand,
} from '../../../../contract/control/field-values.ts';
import type { UploadState } from '../../uploads/repository.ts';
import type { ReadRepoRef } from '../../../../contract/control/repo-ref.ts';
import type { Source } from '../../../../contract/control/source.ts';

/** The kind of hosting that a service reports: any, Cloud SaaS, or self-hosted. */
export const hostings = ['any', 'cloud', 'self-hosted'] as const;
export type Hosting = (typeof hostings)[number];

/**
 * The problem with a source that a hosting does not offer (docs/design/contract.md#creation: `github` is only
 * available for Cloud SaaS, `external_docker` only for self-hosted deployments; the document names no other).
 */
export function hostingProblem(source: Source, hosting: Hosting): string | undefined {
  if (source === 'github' && hosting === 'self-hosted') return unavailable(source, 'Cloud SaaS', hosting);
  if (source === 'external_docker' && hosting === 'cloud') return unavailable(source, 'self-hosted', hosting);
  return undefined;
}

const unavailable = (source: Source, where: string, hosting: Hosting): string =>
  `source ${source} is only available for ${where} deployments, and this service was started with --hosting ${hosting}.`;

/** The longest name of a deployment: what the contract says, and what the public service takes where it is self-hosted. */
const maxNameLength = (hosting: Hosting): number => (hosting === 'self-hosted' ? 21 : maxDeploymentNameLength);

/** The problem with a deployment's name, if any. */
export const nameProblem = (name: string, hosting: Hosting): string | undefined =>
  sentence('name', deploymentNameProblem(name, maxNameLength(hosting)));

/** The problem with `graph_config_path`, if any. */
export const graphConfigPathProblem = (path: string): string | undefined =>
  sentence('source_revision_config.graph_config_path', wrongGraphConfigPath(path));

/** The problem with `image_uri`, if any. */
export const imageProblem = (uri: string): string | undefined =>
  sentence('source_revision_config.image_uri', imageUriProblem(uri));

/** The problem with `custom_url`, if any. */
export function customUrlProblem(address: string): string | undefined {
  const url = URL.parse(address);
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return undefined;
  return 'source_config.custom_url must be an http or https address without a user or a password.';
}

const sentence = (field: string, words: string | undefined): string | undefined => words && `${field} ${words}.`;

/** The problem with `install_command` or `build_command`, if any: only plain words and `&&` are allowed. */
export function commandProblem(field: string, command: string): string | undefined {
  const found = refusedInCommand(command);
  if (found.length > 0) {
    return `${field} must not contain ${found.join(' or ')}; put what needs it into a script of the repository.`;
  }
  return command.trim() === '' ? `${field} may not be blank; leave it out to have it found.` : undefined;
}

/** The message for an invalid `repo_ref`, with a suggestion. */
export const repoRefProblem = ({ problem, suggestion }: Extract<ReadRepoRef, { ok: false }>): string =>
  `source_revision_config.repo_ref: ${problem}.${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`}`;

/** The state of a path in a request; `unknown` where it was not issued for this very deployment. */
export type NamedTarball = UploadState | 'unknown';

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
