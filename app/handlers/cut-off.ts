import type { Intent } from '../work/intent.ts';
import type { World } from '../world.ts';

const leaseMs = 30_000;

/** Somebody works on a deployment just now, so that what is open there cannot be ended: the event is handled again. */
export class DeploymentBusy extends Error {
  constructor(deploymentId: string) {
    super(`deployment ${deploymentId} is being worked on; what is open there is ended at the next attempt`);
    this.name = 'DeploymentBusy';
  }
}

/**
 * Ends everything that is open for repositories which the App does not reach any more: nobody can be told of it, and
 * nothing may be built for a repository that took its leave. What GitHub was not told yet is dropped.
 *
 * @param isGone which intents are meant.
 * @returns the repositories whose intents were ended.
 * @throws DeploymentBusy
 */
export async function cutOff(
  world: World,
  holder: string,
  isGone: (intent: Intent) => boolean,
  why: string,
): Promise<number[]> {
  const { store } = world;
  const repositories = new Set<number>();
  for (const deploymentId of await store.busyDeployments()) {
    const open = await store.openIntents(deploymentId);
    if (!open.some(isGone)) continue;
    for (const { repositoryId } of open.filter(isGone).map(({ repository }) => repository))
      repositories.add(repositoryId);
    await endOpen(world, deploymentId, holder, isGone, why);
  }
  for (const repositoryId of repositories) await store.dropUntold(repositoryId);
  return [...repositories];
}

async function endOpen(
  { store, clock }: World,
  deploymentId: string,
  holder: string,
  isGone: (intent: Intent) => boolean,
  why: string,
): Promise<void> {
  await store.wake(deploymentId);
  const lease = await store.takeLease(deploymentId, holder, leaseMs);
  if (!lease) throw new DeploymentBusy(deploymentId);
  const now = clock.now();
  const ended = (await store.openIntents(deploymentId)).filter(isGone).map((intent) => endedBy(intent, why, now));
  await store.save(lease, { intents: ended });
  // What else is open there goes on: whoever looks next looks now.
  for (let held = lease; !(await store.leaveLease(held, now));) held = await store.renewLease(held, leaseMs);
}

const endedBy = (intent: Intent, why: string, at: number): Intent => ({
  ...intent,
  state: 'ended',
  decision: { kind: 'skip', code: 'not-installed', why },
  end: { kind: 'skipped', reason: why, at },
  updatedAt: at,
});
