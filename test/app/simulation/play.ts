import type { Command, History } from './commands.ts';
import { carryOutOnPulls } from '../previews/preview-history.ts';
import { Simulation, type Code } from './simulation.ts';
import { branch, pullNumber } from './terms.ts';
import type { ModelProcess } from './model-process.ts';

/** How often the App looks for what was missed (ms), and for how long after the last deed. */
const recoveryMs = 10 * 60_000;
const recoveredMs = 45 * 60_000;

/** How often previews are swept (ms), and for how long after the last deed. */
const sweepMs = 5 * 60_000;
const sweptMs = 60 * 60_000;

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
  if (setting.previews) {
    for (let sweep = 0; sweep < at + sweptMs; sweep += sweepMs)
      simulation.clock.after(sweep, () => simulation.jobs.send('sweep', `${sweep}`));
  }
  simulation.clock.after(at + recoveredMs, () => simulation.endReview());
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
      return simulation.deliverPush(command.arrive);
    }
    case 'force': {
      const to = round(mainCommits(simulation), command.to);
      if (to === undefined || to === git.branches.get(branch)) return;
      git.point(branch, to);
      return simulation.deliverPush(command.arrive);
    }
    case 'delete':
      if (!git.branches.has(branch)) return;
      git.point(branch, undefined);
      return simulation.deliverPush(command.arrive);
    case 'redeliver': {
      const known = round(simulation.deliveries.toReversed(), command.which);
      if (known) simulation.arrive(known);
      return;
    }
    case 'rerun': {
      const reported = round(mainCommits(simulation), command.commit);
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
    case 'comment': {
      if (deploymentId === undefined) return;
      const { name, copies, arrive } = command;
      const body = `/${name} ${simulation.termsOf(deploymentId).deploymentName}`;
      return simulation.comment({ body, number: pullNumber, by: command.by ?? 'octocat', copies }, arrive);
    }
    case 'approve': {
      const commit = round(mainCommits(simulation), command.commit);
      return requestedAction(simulation, 'approve', commit, simulation.deploymentIds[1], command.arrive);
    }
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
      const commit = round(mainCommits(simulation), command.commit);
      if (commit === undefined) return;
      for (const name of command.names) simulation.setCheck(commit, { name, state: command.state });
      return simulation.deliver({ kind: 'checks', commit }, command.arrive);
    }
    default:
      return carryOutOnPulls(simulation, command);
  }
}

export const nameOf = (simulation: Simulation, deploymentId: string): string =>
  `Landfall: ${simulation.termsOf(deploymentId).deploymentName}`;

/** The commits that were made on the deployed branch, the newest first. */
const mainCommits = ({ git }: Simulation): string[] =>
  [...git.commits.values()].flatMap((each) => (each.branch === branch ? each.sha : [])).toReversed();

/** A person requests an action on a check, if there is one. */
function requestedAction(
  simulation: Simulation,
  kind: 'rerun' | 'redeploy' | 'rollback' | 'promote' | 'approve',
  commit: string | undefined,
  deploymentId: string | undefined,
  arrive: readonly number[],
): void {
  if (commit === undefined || deploymentId === undefined) return;
  const name = nameOf(simulation, deploymentId);
  if (simulation.githubApi.check(commit, name)) simulation.deliver({ kind, commit, name }, arrive);
}

const alive = (simulation: Simulation): ModelProcess[] => simulation.processes.filter(({ isAlive }) => isAlive);

const round = <T>(from: readonly T[], index: number): T | undefined =>
  from.length === 0 ? undefined : from[index % from.length];
