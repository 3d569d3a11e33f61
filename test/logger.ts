import * as z from 'zod';
import { createLogger, type Logger } from '../src/kit/logger.ts';

const line = z.looseObject({ msg: z.string() });

/** A logger that hands each message on, with its level and fields. */
export const loggerTo = (take: (message: string, fields: Record<string, unknown>) => void): Logger => {
  const write = (text: string): void => {
    const read = line.parse(JSON.parse(text));
    take(read.msg, read);
  };
  return createLogger({ name: 'test', level: 'debug', destination: { write } });
};
