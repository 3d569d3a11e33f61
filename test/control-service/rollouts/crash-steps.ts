/** Where the service is killed, in the order in which a revision meets it, and what was done by then. */
export const crashSteps = {
  claimed: 'the revision is taken, nothing is built',
  cloned: 'the source lies in its folder',
  installed: 'its packages are installed',
  built: 'its commands have run, nothing says that the build is whole',
  recorded: 'the build is whole, the database does not know it',
  started: "the agent's process runs, it has not been healthy",
  healthy: 'the agent is healthy, traffic goes to the former one',
  switched: 'traffic has gone over, the revision is not called live',
  live: 'the revision is live, the former agent still runs',
  draining: 'the former agent finishes what it is at',
} as const;
export type CrashStep = keyof typeof crashSteps;

/** Not told by the service: the agent's own process shows it. */
export const seenFromOutside: CrashStep = 'started';

const isStep = (name: string): name is CrashStep => name in crashSteps;
export const stepNames = Object.keys(crashSteps).filter(isStep);

export type SweptSource = 'github' | 'internal_source';

/** Every step with a repository; with an upload those where it matters. */
export const crashCases: readonly { source: SweptSource; step: CrashStep }[] = [
  ...stepNames.map((step) => ({ source: 'github' as const, step })),
  ...(['cloned', 'recorded', 'switched'] as const).map((step) => ({
    source: 'internal_source' as const,
    step,
  })),
];

/** What became of a revision whose service was killed, after a new start. */
export interface Fared {
  endedBy: string;
  status: string;
  /** Process groups of the revision's agents. */
  agents: number;
  /** Process groups of agents from before the kill, and processes of builds. */
  processesLeft: number;
  /** Files and folders that nothing names. */
  filesLeft: string[];
}

export const tableHead = [
  '| killed at | what was done | source | ended by | status after a new start | its agents | processes left | files left |',
  '| --- | --- | --- | --- | --- | --- | --- | --- |',
];

/** One line of the table that the room's README holds. */
export const rowOf = (
  { source, step }: { source: SweptSource; step: CrashStep },
  { endedBy, status, agents, processesLeft, filesLeft }: Fared,
): string =>
  `| \`${step}\` | ${crashSteps[step]} | ${source} | ${endedBy} | ${status} | ${agents} | ${processesLeft} | ${filesLeft.length} |`;
