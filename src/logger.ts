import { pino, stdTimeFunctions, type BaseLogger, type DestinationStream } from 'pino';

/**
 * Logs what a program does: a sentence, after an object with fields where a search by them helps
 * (`log.warn({ deploymentId }, 'The agent was restarted.')`). Never a secret. A Probot logger is one.
 */
export type Logger = Pick<BaseLogger, 'debug' | 'info' | 'warn' | 'error'>;

export interface LoggerSettings {
  /** The program: the field `name` of each line. */
  name: string;
  /** `debug`, `info`, `warn`, `error` or `silent`; `info` when absent. */
  level?: string | undefined;
  /** Where the lines go, one JSON object each; standard output when absent. */
  destination?: DestinationStream | undefined;
}

/** Makes a logger that writes each line at once, so that none is lost when the program is killed. */
export const createLogger = ({ name, level = 'info', destination }: LoggerSettings): Logger =>
  destination ? pino(options(name, level), destination) : pino(options(name, level));

const options = (name: string, level: string) => ({
  name,
  level,
  base: {},
  timestamp: stdTimeFunctions.isoTime,
  formatters: { level: (label: string) => ({ level: label }) },
});
