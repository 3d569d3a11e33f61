import type { DeploymentPatchRequest } from '../../contract/control/deployment.ts';
import { ruleOf } from '../../contract/control/field-rules.ts';
import type { Desired } from '../file/desired.ts';
import type { ImageLookup } from '../../contract/control/container.ts';
import { otherCommitObstacles } from './commit.ts';
import { planCreation } from './plan-create.ts';
import { compareFields, buildRequestFields } from './plan-fields.ts';
import { identityObstacles, pushOnTag } from './plan-identity.ts';
import { decideRebuild, type AdoptReason } from './plan-rebuild.ts';
import { compareResources } from './plan-resources.ts';
import { restatement } from './plan-restate.ts';
import { compareReferences, compareSecrets } from './plan-secrets.ts';
import { notesOnTarball } from './plan-tarball.ts';
import type { FieldChange, Plan, PlanNote, ObservedState } from './plan-types.ts';

/**
 * What has to be done so that `desired` runs, and why. Pure: the same two values give the same plan. A field that does
 * not differ is never sent, because setting one can make a revision (docs/design/contract.md#revision-settings); the
 * one exception is the source itself, restated where a revision is needed that no difference would make.
 */
export function plan(requested: Desired, seen: ObservedState): Plan {
  const { deployment, image } = seen;
  const desired = withPinnedImage(requested, image);
  if (!deployment) return planCreation(desired, seen);
  const identity = identityObstacles(desired, deployment);
  if (identity.some(({ code }) => code === 'other-source')) return { kind: 'impossible', obstacles: identity };
  const fields = compareFields(desired, deployment);
  const secrets = compareSecrets(desired.secrets, desired.secretsStrategy, deployment.secrets);
  const docker = desired.source === 'external_docker' ? desired : undefined;
  const resources = compareResources(docker?.resourceSpec, deployment.source_config.resource_spec);
  const references = compareReferences(docker?.secretReferences, deployment.secret_references);
  const differing = [...fields.changes, ...resources.changes, ...secrets.changes, ...references];
  const isMade = differing.some(({ makesRevision }) => makesRevision);
  const rebuilt = decideRebuild(desired, deployment, seen);
  const obstacles = [
    ...identity,
    ...fields.obstacles,
    ...pushOnTag(desired, deployment),
    ...resources.obstacles,
    ...secrets.obstacles,
    ...(rebuilt.kind === 'stuck' && (rebuilt.always || !isMade) ? [rebuilt.why] : []),
  ];
  const restated = restatement(desired, deployment, rebuilt, differing, seen);
  if (restated?.kind === 'impossible') obstacles.push(restated.obstacle);
  if (isMade || restated) obstacles.push(...otherCommitObstacles(seen.commit));
  if (obstacles.length > 0 || restated?.kind === 'impossible') return { kind: 'impossible', obstacles };

  const changes = [...differing, ...(restated ? [restated.change] : [])];
  const makesRevision = isMade || restated !== undefined;
  const adopting = rebuilt.kind === 'adopt' && !makesRevision ? adoption(rebuilt.why) : {};
  const notes = [
    ...fields.notes,
    ...resources.notes,
    ...(rebuilt.kind === 'stuck' || (isMade && !restated) ? [] : rebuilt.notes),
    ...(makesRevision ? [] : [...laterEffects(changes), ...notesOnImage(desired, image)]),
    ...(desired.source === 'internal_source' && (restated?.kind === 'uploaded' || !seen.tarball)
      ? notesOnTarball(desired, seen.tarball)
      : []),
  ];
  if (changes.length === 0) return { kind: 'none', deploymentId: deployment.id, why: rebuilt.why, notes, ...adopting };
  const sent = new Set(changes.map(({ field }) => field));
  const parts = buildRequestFields(desired, (path) => sent.has(path));
  const request: DeploymentPatchRequest = {
    ...filled('source_config', {
      ...parts.source_config,
      ...(resources.spec ? { resource_spec: resources.spec } : {}),
    }),
    ...filled('source_revision_config', {
      ...parts.source_revision_config,
      ...(restated?.kind === 'restated' ? restated.part : {}),
    }),
    ...(secrets.set ? { secrets: secrets.set.map((secret) => ({ ...secret })) } : {}),
    ...(references.length > 0 ? { secret_references: docker?.secretReferences?.map((each) => ({ ...each })) } : {}),
  };
  return {
    kind: 'patch',
    deploymentId: deployment.id,
    request,
    changes,
    makesRevision,
    formerLatestRevisionId: deployment.latest_revision_id,
    notes,
    ...adopting,
    ...(restated?.kind === 'uploaded' ? { upload: { digest: restated.digest } } : {}),
  };
}

/** By its digest, an image that was pushed under the same tag differs from the one that runs. */
function withPinnedImage(desired: Desired, image: ImageLookup | undefined): Desired {
  if (desired.source !== 'external_docker' && desired.source !== 'internal_docker') return desired;
  return image?.kind === 'pinned' ? { ...desired, imageUri: image.uri } : desired;
}

function notesOnImage(desired: Desired, image: ImageLookup | undefined): PlanNote[] {
  if (image?.kind !== 'unknown' || !('imageUri' in desired)) return [];
  return [{ code: 'image-unpinned', image: desired.imageUri, why: image.why }];
}

const adoption = ({ code, revisionId }: AdoptReason) =>
  code === 'commit-unreported' ? { adopt: revisionId, unreportedCommit: true as const } : { adopt: revisionId };

function filled<Name extends string, Part extends object>(name: Name, part: Part): { [N in Name]?: Part } {
  const whole: { [N in Name]?: Part } = {};
  if (Object.keys(part).length > 0) whole[name] = part;
  return whole;
}

/** Changes that are already stored but take effect only with the next revision. */
function laterEffects(changes: readonly FieldChange[]): PlanNote[] {
  const fields = changes
    .filter(({ field }) => ruleOf(field.replace(/^(secret_references)\..*$/, '$1')).patch === 'next-revision')
    .map(({ field }) => field);
  return fields.length === 0 ? [] : [{ code: 'later-effect', fields }];
}
