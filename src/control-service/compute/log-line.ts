/** The level of a line of a build or deploy log. */
export type LogLevel = 'info' | 'warning' | 'error';

/** Writes one line of a log, without blocking; mask secrets before. */
export type WriteLine = (level: LogLevel, message: string) => void;
