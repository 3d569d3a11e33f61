import type { DeploymentCreateRequest } from './deployment.ts';
import type { Source, SourceConfigRequest, SourceRevisionConfigRequest } from './source.ts';

/**
 * The effect of a PATCH of a field with a value that is not null:
 * - `revision`: creates a new revision, even if the value is the same
 * - `in-place`: changes it at once, without a revision
 * - `next-revision`: changes it without a revision; takes effect with the next one
 * - `fixed`: set on create, can't be changed
 * - `read-only`: set by the service
 */
export type PatchEffect = 'revision' | 'in-place' | 'next-revision' | 'fixed' | 'read-only';

/** Dotted path of a field in the body, with the specification's names. */
type ApiPath =
  | Exclude<keyof DeploymentCreateRequest, 'source_config' | 'source_revision_config'>
  | `source_config.${Exclude<keyof SourceConfigRequest, 'listener_config'> | 'listener_config.k8s_namespace'}`
  | `source_revision_config.${keyof SourceRevisionConfigRequest | 'repo_commit_sha'}`;

/** One field of a deployment: everything about it that is not its own logic. */
export interface DeploymentField {
  /** In the deploy file, as an input of the Action and as an option of the command line. */
  name: string;
  /** The sources that it applies to: for others it must be null or absent. Absent: all. */
  appliesTo?: readonly Source[];
  /** The control service's rules. Absent: the service has no such field. */
  api?: {
    path: ApiPath;
    patch: PatchEffect;
    /** Whether create requires it: for each source that it applies to, or for these. */
    required?: true | readonly Source[];
    /** Sources for which public clients send it although the specification does not name them. */
    alsoTakenFor?: readonly Source[];
  };
  /** Format of the text of its input: `true` or `false`, one item per line, or YAML. Absent: plain text. */
  reads?: 'flag' | 'lines' | 'yaml';
  /** Description of its input. Absent: it has none. */
  input?: string;
  /** Description of its option on the command line; by default that of the input. */
  option?: string;
  /** Description in the schema of the deploy file, which editors show. Absent: the file has no such field. */
  file?: string;
  /** Description in docs/deploy-file.md; by default that of the schema. */
  page?: string;
}
