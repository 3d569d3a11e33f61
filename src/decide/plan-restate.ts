import type { Deployment } from '../contract/control/deployment.ts';
import type { Desired } from '../config/desired.ts';
import { inputOf, shown, spelledRef } from './plan-fields.ts';
import type { Rebuilding } from './plan-rebuild.ts';
import type { FieldChange, Obstacle } from './plan-types.ts';

/** The source, sent again as it is. */
export type Restatement =
  | { kind: 'restated'; change: FieldChange; part: { repo_ref: string } | { image_uri: string } }
  | { kind: 'impossible'; obstacle: Obstacle };

/**
 * Restating the same ref or image is deliberate: a push does not change a branch's name, and only a non-null source
 * field makes the service build again. Undefined where nothing has to be restated.
 */
export function restatement(
  desired: Desired,
  deployment: Deployment,
  rebuilt: Rebuilding,
  differing: readonly FieldChange[],
): Restatement | undefined {
  const github = desired.source === 'github';
  const field = github ? 'source_revision_config.repo_ref' : 'source_revision_config.image_uri';
  if (!isNeeded(rebuilt, github, differing) || differing.some((change) => change.field === field)) return undefined;
  const held = github ? deployment.source_revision_config.repo_ref : deployment.source_revision_config.image_uri;
  const asked = github ? desired.repoRef : desired.imageUri;
  const value = asked ?? (github && held ? spelledRef(held) : held);
  if (!value) {
    return {
      kind: 'impossible',
      obstacle: {
        field,
        problem: 'a new revision is needed, and the service does not tell what the deployment is made from',
        advice: `Give ${inputOf(field)}.`,
      },
    };
  }
  const change = { field, from: shown(field, held), to: shown(field, value), makesRevision: true };
  return {
    kind: 'restated',
    change: { ...change, why: `restated so that a revision is made: ${reason(rebuilt)}` },
    part: github ? { repo_ref: value } : { image_uri: value },
  };
}

/** A revision that is made anyway runs whichever image is set, but only a stated ref is sure to be built anew. */
function isNeeded(rebuilt: Rebuilding, github: boolean, differing: readonly FieldChange[]): boolean {
  const isMade = differing.some(({ makesRevision }) => makesRevision);
  if (rebuilt.kind === 'make') return github || !isMade;
  return rebuilt.kind === 'adopt' && rebuilt.untold && isMade;
}

const reason = (rebuilt: Rebuilding) => (rebuilt.kind === 'stuck' ? rebuilt.obstacle.problem : rebuilt.why);
