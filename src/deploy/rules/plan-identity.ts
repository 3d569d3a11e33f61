import type { Deployment } from '../../contract/control/deployment.ts';
import type { Desired } from '../file/desired.ts';
import type { Obstacle } from './plan-types.ts';
import { isTagRef } from '../../contract/control/repo-ref.ts';
import { isPreviewOf, type PreviewOf } from './preview.ts';
import { spelledRef } from './plan-fields.ts';

/** What was chosen for good when the deployment was created, and whether it still is there to stay. */
export function identityObstacles(desired: Desired, deployment: Deployment): Obstacle[] {
  const obstacles: Obstacle[] = [];
  if (deployment.status === 'AWAITING_DELETE' || deployment.status === 'AWAITING_FINAL_DELETE') {
    obstacles.push({ field: 'status', code: 'being-deleted', status: deployment.status });
  }
  if (desired.source !== deployment.source) {
    obstacles.push({ field: 'source', code: 'other-source', from: deployment.source, to: desired.source });
  }
  return [...obstacles, ...nameObstacles(desired, deployment)];
}

/** Whether the deployment that an id found is the one that was named. */
export const nameObstacles = ({ name }: { name?: string | undefined }, deployment: Deployment): Obstacle[] =>
  name === undefined || name === deployment.name ? [] : [{ field: 'name', code: 'other-name', name: deployment.name }];

/** A preview is changed and deleted only where it is known to be one. */
export const previewObstacles = (key: PreviewOf | undefined, deployment: Deployment): Obstacle[] =>
  key === undefined || isPreviewOf(deployment, key) ? [] : [{ field: 'name', code: 'not-a-preview' }];

/** A tag is never built on push (docs/design/contract.md#deployment-settings: `build_on_push`). */
export function pushOnTag(desired: Desired, deployment: Deployment | undefined): Obstacle[] {
  if (desired.source !== 'github') return [];
  const ref = desired.repoRef ?? deployment?.source_revision_config.repo_ref;
  const onPush = desired.buildOnPush ?? deployment?.source_config.build_on_push;
  if (!ref || !onPush || !isTagRef(spelledRef(ref))) return [];
  if (desired.repoRef === undefined && desired.buildOnPush === undefined) return [];
  const isRequested = desired.buildOnPush === true;
  return [{ field: 'source_config.build_on_push', code: 'tag-on-push', ref, isRequested }];
}
