/** The steps after which the service is killed, in order, with the progress so far. */
export const crashSteps = {
  claimed: 'the revision is claimed, nothing is built',
  cloned: 'the source is in its folder',
  installed: 'its packages are installed',
  built: 'its commands have run, the build is not marked complete',
  recorded: 'the build is complete, the database does not have it',
  started: "the agent's process runs, it is not healthy yet",
  healthy: 'the agent is healthy, the former one has the traffic',
  held: 'the agent is held, at an address of its own',
  decided: 'the decision is stored, the agent is still held',
  promoted: 'the promoted agent takes part in all work, the former one has the traffic',
  discarded: 'the discarded agent was stopped',
  switched: 'traffic has switched, the status is not DEPLOYED yet',
  live: 'the revision is live, the former agent still runs',
  draining: 'the former agent drains',
} as const;
export type CrashStep = keyof typeof crashSteps;

/** Not reported by the service: the agent's own process shows it. */
export const seenFromOutside: CrashStep = 'started';

const isStep = (name: string): name is CrashStep => name in crashSteps;
export const stepNames = Object.keys(crashSteps).filter(isStep);

export type SweptSource = 'github' | 'internal_source';

/** How the hold of a revision ends: by a decision, at `healthy` and `held` after the restart, or by itself. */
export type HoldEnd = 'promoted' | 'discarded' | 'by itself';

export interface CrashCase {
  source: SweptSource;
  step: CrashStep;
  holdEnd?: HoldEnd;
}

/** The steps of a hold with its ends, and those before and after it up to what the database says. */
const holdCases: readonly { step: CrashStep; holdEnd: HoldEnd }[] = [
  { step: 'healthy', holdEnd: 'promoted' },
  { step: 'held', holdEnd: 'promoted' },
  { step: 'held', holdEnd: 'discarded' },
  { step: 'held', holdEnd: 'by itself' },
  { step: 'decided', holdEnd: 'promoted' },
  { step: 'decided', holdEnd: 'discarded' },
  { step: 'promoted', holdEnd: 'promoted' },
  { step: 'discarded', holdEnd: 'discarded' },
  { step: 'switched', holdEnd: 'promoted' },
];

const ofHoldsOnly: readonly CrashStep[] = ['held', 'decided', 'promoted', 'discarded'];

/** Every step for a repository, without and with a hold; for an upload only those that differ. */
export const crashCases: readonly CrashCase[] = [
  ...stepNames.filter((step) => !ofHoldsOnly.includes(step)).map((step) => ({ source: 'github' as const, step })),
  ...holdCases.map((each) => ({ source: 'github' as const, ...each })),
  ...(['cloned', 'recorded', 'switched'] as const).map((step) => ({
    source: 'internal_source' as const,
    step,
  })),
];

/** The state of a revision after its service was killed and restarted. */
export interface Fared {
  endedBy: string;
  status: string;
  /** Process groups of the revision's agents. */
  agents: number;
  /** Process groups of agents from before the kill, and processes of builds. */
  processesLeft: number;
  /** Files and folders that no row refers to. */
  filesLeft: string[];
}

export const tableHead = [
  '| killed at | progress | hold | source | ended by | status after a restart | its agents | processes left | files left |',
  '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
];

/** One row of the table in docs/design/rollouts.md. */
export const rowOf = (
  { source, step, holdEnd }: CrashCase,
  { endedBy, status, agents, processesLeft, filesLeft }: Fared,
): string =>
  `| \`${step}\` | ${crashSteps[step]} | ${holdEnd ?? 'none'} | ${source} | ${endedBy} | ${status} | ${agents} | ${processesLeft} | ${filesLeft.length} |`;
