import * as z from 'zod';
import { compilePath } from './json-path.ts';
import { compilable } from './ruled-text.ts';
import { argumentModes, trajectoryModes, type Expectation } from './smoke-test.ts';
import { readMessage } from './trajectory-message.ts';

const mostMessages = 100;

/** A message of LangChain or of OpenAI, as it was recorded. */
const message = z.record(z.string(), z.unknown()).transform((written, context) => {
  const read = readMessage(written);
  if (read) return read;
  context.addIssue({
    code: 'custom',
    message: 'must be a message: a `role` or a `type`, and `tool_calls` with a `name` and `args` where it has some',
  });
  return z.NEVER;
});

/** The reference that the messages of an answer are matched with. */
export const writtenTrajectory = z
  .strictObject({
    path: compilable(z.string(), compilePath).default('$.messages'),
    mode: z.enum(trajectoryModes).default('strict'),
    args: z.enum(argumentModes).default('exact'),
    messages: z.array(message).min(1).max(mostMessages),
  })
  .transform((written): Extract<Expectation, { kind: 'trajectory' }> => ({ kind: 'trajectory', ...written }));
