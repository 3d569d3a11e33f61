import type { Deed, History } from './deeds.ts';
import { House, type Code, type Delivery } from './house.ts';
import { branch } from './terms.ts';
import type { ModelProcess } from './model-process.ts';

/** How often the App looks for what was missed (ms), and for how long after the last deed. */
const recoveryMs = 10 * 60_000;
const recoveredMs = 45 * 60_000;

/** How long after the last deed all must have come to rest (ms). */
const restMs = 12 * 60 * 60_000;

/** Plays a history until all is quiet, and leaves what came of it. */
export async function play({ setting, deeds }: History, code: Code): Promise<House> {
  const house = new House(setting, code);
  // The first revision is live before anything happens.
  await house.clock.run(house.clock.now() + 10 * 60_000);
  let at = 0;
  for (const deed of deeds) {
    at += deed.after;
    house.clock.after(at, () => carryOut(house, deed));
  }
  for (let late = 0; late < at + recoveredMs; late += recoveryMs) {
    house.clock.after(late, () => house.jobs.send('recovery', `${late}`));
  }
  await house.clock.run(house.clock.now() + at + restMs);
  return house;
}

function carryOut(house: House, deed: Deed): void {
  const { git, control, clock } = house;
  const deploymentId = 'deployment' in deed ? round(house.deploymentIds, deed.deployment) : undefined;
  switch (deed.do) {
    case 'push': {
      const message = deed.words === 'skip' ? 'Try something [skip deploy]' : 'Change the agent';
      git.commit(branch, { message, paths: [deed.paths === 'docs' ? 'docs/a.md' : 'agent.py'], fate: deed.fate });
      return pushed(house, deed.arrive);
    }
    case 'force': {
      const to = round([...git.commits.keys()].toReversed(), deed.to);
      if (to === undefined || to === git.branches.get(branch)) return;
      git.point(branch, to);
      return pushed(house, deed.arrive);
    }
    case 'delete':
      if (!git.branches.has(branch)) return;
      git.point(branch, undefined);
      return pushed(house, deed.arrive);
    case 'redeliver': {
      const known = round(house.deliveries.toReversed(), deed.which);
      if (known) house.arrive(known);
      return;
    }
    case 'rerun': {
      const told = round([...git.commits.keys()].toReversed(), deed.commit);
      return pressed(house, 'rerun', told, deploymentId, deed.arrive);
    }
    case 'redeploy':
      return pressed(house, 'redeploy', git.head(branch)?.sha, deploymentId, deed.arrive);
    case 'rollback':
      return pressed(
        house,
        'rollback',
        control.deployments.get(deploymentId ?? '')?.active?.commit,
        deploymentId,
        deed.arrive,
      );
    case 'action':
      if (deploymentId && git.branches.has(branch)) control.restateBeside(deploymentId, 'action');
      return;
    case 'kill': {
      const victim = round(alive(house), deed.process);
      if (!victim) return;
      const giveBack = victim.onDeath;
      victim.onDeath = () => {
        giveBack();
        clock.after(deed.restartAfter, () => house.start(`${victim.name}'`));
      };
      victim.cutAt(deed.cut);
      return;
    }
    case 'stall':
      round(alive(house), deed.process)?.stallAt(deed.cut, deed.forMs);
      return;
    case 'fault':
      house.faults.lay(deed.fault);
  }
}

export const nameOf = (house: House, deploymentId: string): string =>
  `Landfall: ${house.termsOf(deploymentId).deploymentName}`;

function pushed(house: House, arrive: readonly number[]): void {
  const after = house.git.branches.get(branch);
  if (after !== undefined && house.setting.builder === 'service') {
    for (const id of house.deploymentIds) house.control.restateBeside(id, 'service');
  }
  deliver(house, { kind: 'push', after }, arrive);
}

/** A person presses something on a check, where there is one. */
function pressed(
  house: House,
  kind: 'rerun' | 'redeploy' | 'rollback',
  commit: string | undefined,
  deploymentId: string | undefined,
  arrive: readonly number[],
): void {
  if (commit === undefined || deploymentId === undefined) return;
  const name = nameOf(house, deploymentId);
  if (house.hub.check(commit, name)) deliver(house, { kind, commit, name }, arrive);
}

function deliver(house: House, asks: Delivery['asks'], arrive: readonly number[]): void {
  const delivery: Delivery = { guid: `delivery-${house.deliveries.length + 1}`, asks };
  house.deliveries.push(delivery);
  for (const ms of arrive) house.clock.after(ms, () => house.arrive(delivery));
}

const alive = (house: House): ModelProcess[] => house.processes.filter(({ isAlive }) => isAlive);

const round = <T>(from: readonly T[], index: number): T | undefined =>
  from.length === 0 ? undefined : from[index % from.length];
