/** The steps after which the service is killed, in order, and the progress by then. */
export const crashSteps = {
  claimed: 'the revision is claimed, nothing is built',
  cloned: 'the source is in its folder',
  installed: 'its packages are installed',
  built: 'its commands have run, the build is not marked complete',
  recorded: 'the build is complete, the database does not have it',
  started: "the agent's process runs, it is not healthy yet",
  healthy: 'the agent is healthy, the former one has the traffic',
  switched: 'traffic has switched, the status is not DEPLOYED yet',
  live: 'the revision is live, the former agent still runs',
  draining: 'the former agent drains',
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
  '| killed at | progress | source | ended by | status after a restart | its agents | processes left | files left |',
  '| --- | --- | --- | --- | --- | --- | --- | --- |',
];

/** One row of the table in docs/design/rollouts.md. */
export const rowOf = (
  { source, step }: { source: SweptSource; step: CrashStep },
  { endedBy, status, agents, processesLeft, filesLeft }: Fared,
): string =>
  `| \`${step}\` | ${crashSteps[step]} | ${source} | ${endedBy} | ${status} | ${agents} | ${processesLeft} | ${filesLeft.length} |`;
