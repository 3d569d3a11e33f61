/** The last line of a revision's deploy log, by what has become of its agent. */
export const parting = {
  stopped: 'The agent was stopped.',
  isIdle: 'The agent rests: it serves nobody, and stays loaded for a while in case its build is deployed again.',
  noLongerNeeded: 'The agent, which rested, was stopped.',
} as const;
