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

/** The steps of a revision with a hold, and its decision: at `held` after the kill, else before it. */
export const holdDecisionAt: Partial<Record<CrashStep, 'promote' | 'discard'>> = {
  held: 'promote',
  promoted: 'promote',
  discarded: 'discard',
};

/** Every step for a repository; for an upload only those that differ. */
export const crashCases: readonly { source: SweptSource; step: CrashStep }[] = [
  ...stepNames.map((step) => ({ source: 'github' as const, step })),
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
  '| killed at | progress | source | ended by | status after a restart | its agents | processes left | files left |',
  '| --- | --- | --- | --- | --- | --- | --- | --- |',
];

/** One row of the table in src/control-service/rollouts/README.md. */
export const rowOf = (
  { source, step }: { source: SweptSource; step: CrashStep },
  { endedBy, status, agents, processesLeft, filesLeft }: Fared,
): string =>
  `| \`${step}\` | ${crashSteps[step]} | ${source} | ${endedBy} | ${status} | ${agents} | ${processesLeft} | ${filesLeft.length} |`;
