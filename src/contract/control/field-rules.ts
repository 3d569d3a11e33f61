import { sources, type Source } from './source.ts';

/**
 * The effect of a PATCH of a field with a value that is not null:
 * - `revision`: creates a new revision, even if the value is the same
 * - `in-place`: changes it at once, without a revision
 * - `next-revision`: changes it without a revision; takes effect with the next one
 * - `fixed`: set on create, can't be changed
 * - `read-only`: set by the service
 */
export type PatchEffect = 'revision' | 'in-place' | 'next-revision' | 'fixed' | 'read-only';

/** The specification's rules for a field, beside its type. */
export interface FieldRule {
  /** Dotted path in the body, with the specification's names. */
  path: string;
  /** The sources that it applies to: for others it must be null or absent. */
  appliesTo: readonly Source[];
  /**
   * Sources that the specification does not name, but for which public clients send it: accepted, stored and returned.
   */
  alsoTakenFor: readonly Source[];
  /** The sources that require it on create. */
  requiredFor: readonly Source[];
  patch: PatchEffect;
}

const rule = (
  path: string,
  appliesTo: readonly Source[],
  patch: PatchEffect,
  requiredFor: readonly Source[] = [],
  alsoTakenFor: readonly Source[] = [],
): FieldRule => ({ path, appliesTo, alsoTakenFor, patch, requiredFor });

const built = ['github', 'internal_source'] as const;
const internal = ['internal_source', 'internal_docker'] as const;

/**
 * The rules of control-service.md as data: which field applies to which source, which is required on create, and the
 * effect of a PATCH (Deployment, source_config, source_revision_config, States). `repo_url`, `repo_ref` and `image_uri`
 * are required because nothing could be built without them.
 */
export const fieldRules: readonly FieldRule[] = [
  rule('name', sources, 'fixed', sources),
  rule('source', sources, 'fixed', sources),
  rule('secrets', sources, 'revision', sources),
  rule('secret_references', ['external_docker'], 'next-revision'),
  rule('source_config.integration_id', ['github'], 'fixed'),
  rule('source_config.repo_url', ['github'], 'fixed', ['github']),
  rule('source_config.deployment_type', ['github'], 'fixed', [], internal),
  rule('source_config.build_on_push', ['github'], 'in-place'),
  rule('source_config.custom_url', ['external_docker'], 'in-place'),
  rule('source_config.resource_spec', ['external_docker'], 'revision'),
  rule('source_config.listener_id', ['external_docker'], 'fixed'),
  rule('source_config.listener_config.k8s_namespace', ['external_docker'], 'fixed'),
  rule('source_config.install_command', built, 'next-revision'),
  rule('source_config.build_command', built, 'next-revision'),
  rule('source_revision_config.repo_ref', ['github'], 'revision', ['github']),
  rule('source_revision_config.graph_config_path', built, 'revision', built),
  rule('source_revision_config.image_uri', ['external_docker', 'internal_docker'], 'revision', ['external_docker']),
  rule('source_revision_config.source_tarball_path', ['internal_source'], 'revision'),
  rule('source_revision_config.repo_commit_sha', ['github'], 'read-only'),
];

/** Whether a request may contain a field for a source. */
export const takes = ({ appliesTo, alsoTakenFor }: FieldRule, source: Source): boolean =>
  appliesTo.includes(source) || alsoTakenFor.includes(source);

const byPath = new Map(fieldRules.map((entry) => [entry.path, entry]));

/** The rule of a field; throws for an unknown path. */
export function ruleOf(path: string): FieldRule {
  const found = byPath.get(path);
  if (!found) throw new Error(`no field rule for ${path}`);
  return found;
}
