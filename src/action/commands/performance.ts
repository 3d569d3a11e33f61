import {
  isProduction,
  refusalOfProduction,
  chooseDeployment,
  meantBy,
  type Candidates,
} from '../../deploy/commands/decide.ts';
import type { Command } from '../../deploy/commands/definitions.ts';
import { refused, type CommandOutcome, type CommandRefusal } from '../../deploy/commands/outcomes.ts';
import type { Pins } from '../../deploy/commands/records.ts';
import type { Inputs } from '../../deploy/file/input-table.ts';
import { findDeployment } from '../../deploy/machine/find-deployments.ts';
import type { RunTerms } from '../../deploy/machine/deploy-run.ts';
import type { Outcome } from '../../deploy/machine/outcome-types.ts';
import { detailsOf } from '../../deploy/words/summary.ts';
import type { CallOptions } from '../../contract/call-options.ts';
import type { Deployment } from '../../contract/control/deployment.ts';
import type { ControlService } from '../../contract/control/service.ts';
import { ifFound } from '../../contract/service-error.ts';
import type { CommandFile, WorkflowCandidate } from './candidates.ts';
import type { CommandPull } from './command-pull.ts';
import type { GivenCommand } from './given-command.ts';
import type { CommandGitHub } from './github-reads.ts';

/** What a run that carries out a command is bound to. */
export interface BoundRun extends Pick<RunTerms, 'onceFor' | 'expected' | 'smokeTests'> {
  /** The only commit of the pull request that gets a preview. */
  headSha: string;
}

/** What a command reads and decides by itself; the rest is for the runs that it makes. */
export type CommandControl = Pick<
  ControlService,
  'getDeployment' | 'listDeployments' | 'getRevision' | 'listRevisions' | 'promoteRevision' | 'discardRevision'
>;

/** A command that is carried out. It may be carried out again, by a run that is started again. */
export interface Performance {
  command: Command;
  given: GivenCommand;
  pull: CommandPull;
  github: CommandGitHub;
  /** The deploy file of the default branch, and what it deploys here. */
  file: CommandFile;
  found: Candidates<WorkflowCandidate>;
  /** The deployment that the workflow is for, where it names one. */
  only: string | undefined;
  control: CommandControl;
  options: () => CallOptions;
  /** ms since the epoch */
  now: () => number;
  /** What an earlier attempt of the run has begun with. */
  begun: Pins | undefined;
  /** The commit that is checked out here. */
  sha: string;
  /**
   * Keeps what was decided, and says that it begins, before anything is changed. A refusal where an earlier attempt had
   * decided otherwise.
   */
  begin: (pins: Pins, deployment: string) => Promise<CommandRefusal | undefined>;
  /** Runs the Action with other inputs, on the branch of a deployment, or on the pull request where none is given. */
  run: (given: Inputs, bound: Partial<BoundRun>, at: { file: CommandFile; branch?: string }) => Promise<Outcome>;
}

/** How a command ended, with the run that it made. */
export interface Performed {
  outcome: CommandOutcome;
  run?: Outcome;
}

export const refuse = (refusal: CommandRefusal): Performed => ({ outcome: refused(refusal) });

/** The end of a run as that of its command. */
export const ranTo = (run: Outcome, details = detailsOf(run)): Performed => {
  const { kind: outcome, reason, advice, passes } = run;
  const said = { outcome, reason, ...(advice === undefined ? {} : { advice }), passes };
  return { run, outcome: { kind: 'done', code: 'ran', ...said, ...(details === '' ? {} : { details }) } };
};

/** The deployment that a command acts on, and how it is now; undefined where it does not exist yet. */
export interface ActedOn {
  candidate: WorkflowCandidate;
  name: string;
  deployment: Deployment | undefined;
}

/** Finds the deployment that a command acts on, which the person must be allowed to. */
export async function chooseActedOn(
  performance: Performance,
): Promise<{ ok: true; acted: ActedOn } | { ok: false; refusal: CommandRefusal }> {
  const { command, given, found, control, options } = performance;
  const chosen = chooseDeployment(command, meantBy(command, found));
  if (!chosen.ok) return chosen;
  const { value: candidate } = chosen;
  const { deploymentName: name } = candidate.target.terms;
  const looked = await lookUp(candidate, { control, options });
  if (looked.matches > 1) {
    const why = 'the service has several deployments of this name: give its deployment-id in the deploy file';
    return { ok: false, refusal: { code: 'deployment-refused', deployment: name, why } };
  }
  const { deployment } = looked;
  const { push, desired } = candidate.entry;
  const ownType = 'deploymentType' in desired ? desired.deploymentType : undefined;
  const type = deployment?.source_config.deployment_type ?? ownType;
  const environment = { ...push.environment, name: push.environment?.name ?? name };
  const terms = {
    deploymentName: name,
    environment: { production: isProduction(environment, type) },
    ...(push.admins ? { admins: push.admins } : {}),
  };
  const other = refusalOfProduction(terms, given.by.login);
  return other ? { ok: false, refusal: other } : { ok: true, acted: { candidate, name, deployment } };
}

/** The deployment at the service. */
export async function lookUp(
  { entry: { desired } }: WorkflowCandidate,
  { control, options }: Pick<Performance, 'control' | 'options'>,
): Promise<{ deployment: Deployment | undefined; matches: number }> {
  const { name, deploymentId } = desired;
  const found = await ifFound(findDeployment({ name, deploymentId }, control, options().signal));
  if (!found) return { deployment: undefined, matches: 0 };
  return found.ok ? { deployment: found.deployment, matches: 1 } : { deployment: undefined, matches: found.matches };
}

/** The inputs that choose a deployment of the file. */
export const chosen = ({ key }: Pick<WorkflowCandidate, 'key'>): Inputs =>
  key === undefined ? {} : { deployment: key };

/** What makes the requests of a command one, however often its run is started again. */
export const onceFor = ({ given, pull }: Performance, name: string): string =>
  JSON.stringify([pull.repositoryUrl, given.commentId, name]);
