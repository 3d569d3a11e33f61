import type { ServiceError } from '../contract/service-error.ts';
import { rolloutOutOfTime } from '../planning/rollout.ts';
import type { Rollout } from '../planning/rollout-types.ts';
import type { DeployRun } from './deploy-run.ts';
import { Watch, type Watched } from './watch.ts';

/** How often in a row the service may say no to a poll before it is believed: a new revision may not be seen at once. */
const refusals = 5;

/**
 * Follows one revision to its end: by its id, whatever else becomes the newest one. A poll that fails is no end; it is
 * taken again until the deadline. Throws the `ServiceError` of a service that keeps saying no.
 */
export async function follow(watched: Watched, run: DeployRun): Promise<Rollout> {
  const watch = new Watch(run, watched);
  let refused = 0;
  while (watch.rollout.kind === 'in-progress' && run.request.clock.now() < watched.deadline) {
    const looked = await watch.look();
    refused = looked.ok || mayPass(looked.error) ? 0 : refused + 1;
    if (!looked.ok && refused >= refusals) throw looked.error;
    if (watch.rollout.kind !== 'in-progress') break;
    await watch.untilNextLook(looked.ok ? 0 : looked.error.retryAfterMs);
  }
  const rollout = rolloutOutOfTime(watch.rollout);
  watched.record(rollout);
  run.emit({ kind: 'rolled-out', rollout });
  return rollout;
}

const mayPass = ({ kind }: ServiceError) => kind === 'busy' || kind === 'unreachable' || kind === 'unreadable';
