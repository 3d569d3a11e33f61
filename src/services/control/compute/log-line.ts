export type LogLevel = 'info' | 'warning' | 'error';

/** Writes one line of a log, without blocking; mask secrets before. */
export type WriteLine = (level: LogLevel, message: string) => void;

/** The last line of a revision's deploy log, by the state of its agent. */
export const lastLogMessages = {
  stopped: 'The agent was stopped.',
  idle: 'The agent is idle: it gets no traffic, and stays loaded for a while in case its build is deployed again.',
  scaledToZero: 'The agent was stopped because nobody used it. The next request starts it again.',
  noLongerNeeded: 'The idle agent was stopped.',
} as const;
