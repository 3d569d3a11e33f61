import type { Deployment } from '../../contract/control/deployment.ts';
import type { Desired } from '../file/desired.ts';
import type { Obstacle, Plan, ReportedPlan } from './plan-types.ts';
import { isTagRef } from '../../contract/control/repo-ref.ts';
import { spelledRef } from './plan-fields.ts';

/** What was chosen for good when the deployment was created, and whether it still is there to stay. */
export function identityObstacles(desired: Desired, deployment: Deployment): Obstacle[] {
  const obstacles: Obstacle[] = [];
  if (deployment.status === 'AWAITING_DELETE' || deployment.status === 'AWAITING_FINAL_DELETE') {
    obstacles.push({
      field: 'status',
      problem: `the deployment is being deleted (${deployment.status})`,
      advice: 'Run this again when it is gone, or give another name.',
    });
  }
  if (desired.source !== deployment.source) {
    obstacles.push({
      field: 'source',
      problem: `it is ${deployment.source} since the deployment was created, and it cannot be changed to ${desired.source}`,
      advice: `Set source to ${deployment.source}, or give another name to create a new deployment.`,
    });
  }
  return [...obstacles, ...nameObstacles(desired, deployment)];
}

/** Whether the deployment that an id found is the one that was named. */
export function nameObstacles({ name }: { name?: string | undefined }, deployment: Deployment): Obstacle[] {
  if (name === undefined || name === deployment.name) return [];
  return [
    {
      field: 'name',
      problem: `the deployment of this deployment-id is named ${deployment.name}, and a name cannot be changed`,
      advice: `Set name to ${deployment.name} or remove it, or remove deployment-id to find one by its name.`,
    },
  ];
}

/** A tag is never built on push (docs/design/contract.md#deployment-settings: `build_on_push`). */
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

/** The plan as it may be shown to anybody: without the request, which carries secrets. */
export function withoutRequest(planned: Plan): ReportedPlan {
  if (planned.kind === 'none' || planned.kind === 'impossible') return planned;
  const { request: _secret, ...reported } = planned;
  return reported;
}
