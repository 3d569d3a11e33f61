import { cutMark } from './plain-text.ts';
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
  /** Masks secrets in a message before it is cut: the start of one would not be recognized any more. */
  mask?: ((text: string) => string) | undefined;
}

/**
 * The longest message, in characters. Longer lines would be cut by readers such as the deploy log, which drops their
 * level, so a message whose JSON is longer than `maxJsonLength`, because most of it is escaped, is cut earlier.
 */
const maxLength = 6_000;
const maxJsonLength = 15_000;
const maxEscapedLength = 2_500;

function shortened(text: string, mask: (text: string) => string): string {
  if (text.length <= maxEscapedLength) return text;
  const masked = mask(text);
  const isEscaped = JSON.stringify(masked.slice(0, maxLength)).length > maxJsonLength;
  const max = isEscaped ? maxEscapedLength : maxLength;
  if (masked.length <= max) return masked;
  if (!masked.includes('\n')) return `${masked.slice(0, max)}${cutMark}`;
  // A traceback of Python ends with the error.
  return `${masked.slice(0, max / 2)}${cutMark}\n${masked.slice(-max / 2)}`;
}

export const createLogger = ({ name, level, destination, mask = (text) => text }: LoggerSettings): Logger => {
  const cut = <T>(value: T): T | string => (typeof value === 'string' ? shortened(value, mask) : value);
  return pino(
    {
      name,
      level: levels.find((known) => known === level?.toLowerCase()) ?? 'info',
      base: {},
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        logMethod(values, log) {
          const [first, second, ...more] = values;
          if (second === undefined) log.call(this, cut(first));
          else log.call(this, cut(first), cut(second), ...more);
        },
      },
    },
    destination,
  );
};

/** For callers whose log nobody reads. */
export const silentLogger: Logger = createLogger({ name: 'silent', level: 'silent', destination: { write: () => {} } });
