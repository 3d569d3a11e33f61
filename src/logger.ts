import { pino, stdTimeFunctions, type BaseLogger, type DestinationStream } from 'pino';

/**
 * Logs what a program does: a sentence, after an object with fields where a search by them helps
 * (`log.warn({ deploymentId }, 'The agent was restarted.')`). Never a secret. A Probot logger is one.
 */
export type Logger = Pick<BaseLogger, 'debug' | 'info' | 'warn' | 'error'>;

/** The levels of `LOG_LEVEL`, as Probot names them; `silent` logs nothing. */
const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export interface LoggerSettings {
  /** The program: the field `name` of each line. */
  name: string;
  /** One of `levels`, in any case; another one, or none, means `info`. */
  level?: string | undefined;
  /** Where the lines go, one JSON object each. Each is written at once, so that none is lost when the program is killed. */
  destination: DestinationStream;
}

/** The longest message (characters). Longer lines would be cut by readers such as the deploy log, which drops their level. */
const longestMessage = 6_000;
const shortened = <T>(value: T): T | string =>
  typeof value === 'string' && value.length > longestMessage ? `${value.slice(0, longestMessage)} [...]` : value;

export const createLogger = ({ name, level, destination }: LoggerSettings): Logger =>
  pino(
    {
      name,
      level: levels.find((known) => known === level?.toLowerCase()) ?? 'info',
      base: {},
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        logMethod(values, log) {
          const [first, second, ...more] = values;
          if (second === undefined) log.call(this, shortened(first));
          else log.call(this, first, shortened(second), ...more);
        },
      },
    },
    destination,
  );

/** For callers whose log nobody reads. */
export const silentLogger: Logger = createLogger({ name: 'silent', level: 'silent', destination: { write: () => {} } });
