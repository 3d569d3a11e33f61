import type { Deployment } from '../contract/control/deployment.ts';
import { isTagRef } from '../contract/control/repo-ref.ts';
import type { Desired } from '../config/desired.ts';
import { spelledRef } from './plan-fields.ts';
import type { Obstacle } from './plan-types.ts';

/** A tag is never built on push (control-service.md, source_config: `build_on_push`). */
export function pushOnTag(desired: Desired, deployment: Deployment | undefined): Obstacle[] {
  if (desired.source !== 'github') return [];
  const ref = desired.repoRef ?? deployment?.source_revision_config.repo_ref;
  const onPush = desired.buildOnPush ?? deployment?.source_config.build_on_push;
  if (!ref || !onPush || !isTagRef(spelledRef(ref))) return [];
  if (desired.repoRef === undefined && desired.buildOnPush === undefined) return [];
  return [
    {
      field: 'source_config.build_on_push',
      problem: `it ${desired.buildOnPush ? 'is requested' : 'is on'}, and ${ref} is a tag: tags are not built on push`,
      advice: 'Set build-on-push to false, or repo-ref to a branch.',
    },
  ];
}
