import type { Deployment } from '../../contract/control/deployment.ts';
import type { SourceRevisionConfigRequest } from '../../contract/control/source.ts';
import type { Desired } from '../file/desired.ts';
import { heldAt, displayValue, spelledRef, tarballField } from './plan-fields.ts';
import type { RebuildDecision } from './plan-rebuild.ts';
import { compareTarball, latestDigest, latestPath, uploadChange } from './plan-tarball.ts';
import type { FieldChange, Obstacle, ObservedState } from './plan-types.ts';

/** The source, sent again as it is; or the folder, uploaded. */
export type Restatement =
  | { kind: 'restated'; change: FieldChange; part: SourceRevisionConfigRequest }
  | { kind: 'uploaded'; change: FieldChange; digest: string }
  | { kind: 'impossible'; obstacle: Obstacle };

/**
 * Restating the same ref or image is deliberate: a push does not change a branch's name, and only a non-null source
 * field makes the service build again. Undefined where nothing has to be restated.
 */
export function restatement(
  desired: Desired,
  deployment: Deployment,
  rebuilt: RebuildDecision,
  differing: readonly FieldChange[],
  { tarball, latest }: Pick<ObservedState, 'tarball' | 'latest'>,
): Restatement | undefined {
  if (desired.source === 'internal_source' && tarball) {
    const held = latestDigest(deployment, latest);
    const isSame = compareTarball(tarball, held, latestPath(deployment, latest)) === 'folder-same';
    if (rebuilt.kind !== 'make' || (isSame && isMadeBy(differing))) return undefined;
    return {
      kind: 'uploaded',
      change: uploadChange(tarball, held, { code: 'uploaded', reason: rebuilt.why }),
      digest: tarball.digest,
    };
  }
  const github = desired.source === 'github';
  const { field, requested } = sourceOf(desired);
  if (!isNeeded(rebuilt, github, differing) || differing.some((change) => change.field === field)) return undefined;
  const held = heldAt(deployment, field);
  const reported = typeof held === 'string' ? held : undefined;
  const value = requested ?? (github && reported ? spelledRef(reported) : reported);
  if (!value) return { kind: 'impossible', obstacle: { field, code: 'source-unreported' } };
  const change = { field, from: displayValue(field, held), to: displayValue(field, value), makesRevision: true };
  return {
    kind: 'restated',
    change: { ...change, why: { code: 'restated', reason: rebuilt.why } },
    part: partOf(desired, value),
  };
}

/** The field that names the source of a deployment, and its requested value. */
function sourceOf(desired: Desired): { field: string; requested: string | undefined } {
  switch (desired.source) {
    case 'github':
      return { field: 'source_revision_config.repo_ref', requested: desired.repoRef };
    case 'internal_source':
      return { field: tarballField, requested: undefined };
    default:
      return { field: 'source_revision_config.image_uri', requested: desired.imageUri };
  }
}

function partOf({ source }: Desired, value: string): SourceRevisionConfigRequest {
  if (source === 'github') return { repo_ref: value };
  return source === 'internal_source' ? { source_tarball_path: value } : { image_uri: value };
}

const isMadeBy = (differing: readonly FieldChange[]): boolean => differing.some(({ makesRevision }) => makesRevision);

/** A revision that is made anyway runs whichever image is set, but only a stated ref is sure to be built anew. */
function isNeeded(rebuilt: RebuildDecision, github: boolean, differing: readonly FieldChange[]): boolean {
  const isMade = isMadeBy(differing);
  if (rebuilt.kind === 'make') return github || !isMade;
  return rebuilt.kind === 'adopt' && rebuilt.why.code === 'commit-unreported' && isMade;
}
