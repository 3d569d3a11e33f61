import { prettyFactory } from 'pino-pretty';
import { createLogger, type Logger, type LoggerSettings } from './logger.ts';

interface ProgramLoggerSettings extends Pick<LoggerSettings, 'name' | 'mask'> {
  /** `LOG_LEVEL` and `LOG_FORMAT` (`json` or `pretty`), which Probot reads too. */
  env: Readonly<Record<string, string | undefined>>;
  /** Whether a person reads the lines: then they are `pretty` unless `LOG_FORMAT` says otherwise. */
  isTerminal: boolean;
  /** Writes one line, without a line break. */
  write: (line: string) => void;
}

/** The logger of a program that a person may start in a terminal. */
export function createProgramLogger({ name, env, isTerminal, write, mask }: ProgramLoggerSettings): Logger {
  const isPretty = env['LOG_FORMAT'] === 'pretty' || (isTerminal && env['LOG_FORMAT'] !== 'json');
  const pretty = prettyFactory({
    colorize: false,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'name',
    // Further lines are set in, so that none can pass for an entry of its own.
    messageFormat: ({ msg }) => replaceControls(String(msg)).replaceAll('\n', '\n    '),
  });
  const destination = {
    write: (line: string) => write(isPretty ? replaceControls(pretty(line).trimEnd()) : line.trimEnd()),
  };
  return createLogger({ name, level: env['LOG_LEVEL'], destination, mask });
}

/** Replaces control characters, which a terminal would execute: names of branches and messages of others are untrusted. */
const replaceControls = (text: string): string =>
  text.replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\uFFFD');
