import type { Command, History } from './commands.ts';
import { Simulation, type Code, type Delivery } from './simulation.ts';
import { branch } from './terms.ts';
import type { ModelProcess } from './model-process.ts';

/** How often the App looks for what was missed (ms), and for how long after the last deed. */
const recoveryMs = 10 * 60_000;
const recoveredMs = 45 * 60_000;

/** How long after the last deed all must have come to rest (ms). */
const restMs = 12 * 60 * 60_000;

/** Plays a history until all is idle, and returns the simulation. */
export async function play({ setting, commands }: History, code: Code): Promise<Simulation> {
  const simulation = new Simulation(setting, code);
  // The first revision is live before anything happens.
  await simulation.clock.run(simulation.clock.now() + 10 * 60_000);
  let at = 0;
  for (const command of commands) {
    at += command.after;
    simulation.clock.after(at, () => carryOut(simulation, command));
  }
  for (let late = 0; late < at + recoveredMs; late += recoveryMs) {
    simulation.clock.after(late, () => simulation.jobs.send('recovery', `${late}`));
  }
  await simulation.clock.run(simulation.clock.now() + at + restMs);
  return simulation;
}

function carryOut(simulation: Simulation, command: Command): void {
  const { git, control, clock } = simulation;
  const deploymentId = 'deployment' in command ? round(simulation.deploymentIds, command.deployment) : undefined;
  switch (command.do) {
    case 'push': {
      const message = command.words === 'skip' ? 'Try something [skip deploy]' : 'Change the agent';
      git.commit(branch, { message, paths: [command.paths === 'docs' ? 'docs/a.md' : 'agent.py'], fate: command.fate });
      return pushed(simulation, command.arrive);
    }
    case 'force': {
      const to = round([...git.commits.keys()].toReversed(), command.to);
      if (to === undefined || to === git.branches.get(branch)) return;
      git.point(branch, to);
      return pushed(simulation, command.arrive);
    }
    case 'delete':
      if (!git.branches.has(branch)) return;
      git.point(branch, undefined);
      return pushed(simulation, command.arrive);
    case 'redeliver': {
      const known = round(simulation.deliveries.toReversed(), command.which);
      if (known) simulation.arrive(known);
      return;
    }
    case 'rerun': {
      const reported = round([...git.commits.keys()].toReversed(), command.commit);
      return requestedAction(simulation, 'rerun', reported, deploymentId, command.arrive);
    }
    case 'redeploy':
      return requestedAction(simulation, 'redeploy', git.head(branch)?.sha, deploymentId, command.arrive);
    case 'rollback':
    case 'promote':
      return requestedAction(
        simulation,
        command.do,
        control.deployments.get(deploymentId ?? '')?.active?.commit,
        deploymentId,
        command.arrive,
      );
    case 'comment':
      return commented(simulation, command, deploymentId);
    case 'action':
      if (deploymentId && git.branches.has(branch)) control.restateBeside(deploymentId, 'action');
      return;
    case 'decide':
      if (deploymentId) control.decideByHand(deploymentId, command.decision);
      return;
    case 'kill': {
      const victim = round(alive(simulation), command.process);
      if (!victim) return;
      const giveBack = victim.onDeath;
      victim.onDeath = () => {
        giveBack();
        clock.after(command.restartAfter, () => simulation.start(`${victim.name}'`));
      };
      victim.cutAt(command.cut);
      return;
    }
    case 'stall':
      simulation.hasStalled = true;
      round(alive(simulation), command.process)?.stallAt(command.cut, command.forMs);
      return;
    case 'fault':
      simulation.faults.lay(command.fault);
      return;
    case 'checks': {
      const commit = round([...git.commits.keys()].toReversed(), command.commit);
      if (commit === undefined) return;
      for (const name of command.names) simulation.setCheck(commit, { name, state: command.state });
      deliver(simulation, { kind: 'checks', commit }, command.arrive);
    }
  }
}

export const nameOf = (simulation: Simulation, deploymentId: string): string =>
  `Landfall: ${simulation.termsOf(deploymentId).deploymentName}`;

function pushed(simulation: Simulation, arrive: readonly number[]): void {
  const after = simulation.git.branches.get(branch);
  if (after !== undefined && simulation.setting.builder === 'service') {
    for (const id of simulation.deploymentIds) simulation.control.restateBeside(id, 'service');
  }
  deliver(simulation, { kind: 'push', after }, arrive);
}

/** A person gives a command on a deployment, also one that GitHub delivers under several GUIDs. */
function commented(
  simulation: Simulation,
  { name, copies, arrive }: Extract<Command, { do: 'comment' }>,
  deploymentId: string | undefined,
): void {
  if (deploymentId === undefined) return;
  const commentId = 1_000 + simulation.deliveries.length;
  const body = `/${name} ${simulation.termsOf(deploymentId).deploymentName}`;
  const writtenAt = simulation.clock.now();
  for (let copy = 0; copy < copies; copy += 1)
    deliver(simulation, { kind: 'comment', body, commentId, writtenAt }, arrive);
}

/** A person requests an action on a check, if there is one. */
function requestedAction(
  simulation: Simulation,
  kind: 'rerun' | 'redeploy' | 'rollback' | 'promote',
  commit: string | undefined,
  deploymentId: string | undefined,
  arrive: readonly number[],
): void {
  if (commit === undefined || deploymentId === undefined) return;
  const name = nameOf(simulation, deploymentId);
  if (simulation.githubApi.check(commit, name)) deliver(simulation, { kind, commit, name }, arrive);
}

function deliver(simulation: Simulation, requests: Delivery['requests'], arrive: readonly number[]): void {
  const delivery: Delivery = { guid: `delivery-${simulation.deliveries.length + 1}`, requests };
  simulation.deliveries.push(delivery);
  for (const ms of arrive) simulation.clock.after(ms, () => simulation.arrive(delivery));
}

const alive = (simulation: Simulation): ModelProcess[] => simulation.processes.filter(({ isAlive }) => isAlive);

const round = <T>(from: readonly T[], index: number): T | undefined =>
  from.length === 0 ? undefined : from[index % from.length];
