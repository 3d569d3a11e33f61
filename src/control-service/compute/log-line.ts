/** How grave a line of a build or deploy log is. */
export type LogLevel = 'info' | 'warning' | 'error';

/** Takes one line of a log. It must not wait; secrets are masked before it is called. */
export type WriteLine = (level: LogLevel, message: string) => void;
