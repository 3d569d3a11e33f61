import type { Deployment } from '../contract/control/deployment.ts';
import type { Desired } from '../config/desired.ts';
import type { Obstacle } from './plan-types.ts';

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
export function nameObstacles({ name }: Pick<Desired, 'name'>, deployment: Deployment): Obstacle[] {
  if (name === undefined || name === deployment.name) return [];
  return [
    {
      field: 'name',
      problem: `the deployment of this deployment-id is named ${deployment.name}, and a name cannot be changed`,
      advice: `Set name to ${deployment.name} or remove it, or remove deployment-id to find one by its name.`,
    },
  ];
}
