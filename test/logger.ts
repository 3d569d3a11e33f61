import * as z from 'zod';
import { createLogger, type Logger } from '../src/logger.ts';

const line = z.looseObject({ level: z.string(), msg: z.string().default('') });
export type LogLine = z.infer<typeof line>;

export const silentLogger: Logger = createLogger({ name: 'test', level: 'silent' });

/** A logger whose lines and messages a test can read. */
export function recordingLogger(): { log: Logger; lines: LogLine[]; messages: string[] } {
  const lines: LogLine[] = [];
  const messages: string[] = [];
  const destination = {
    write(text: string) {
      const read = line.parse(JSON.parse(text));
      lines.push(read);
      messages.push(read.msg);
    },
  };
  return { log: createLogger({ name: 'test', level: 'debug', destination }), lines, messages };
}
