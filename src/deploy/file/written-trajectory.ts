import { isObject } from '../../kit/json-object.ts';
import {
  type ToolCall,
  type TrajectoryMessage,
  argumentModes,
  trajectoryModes,
  type Expectation,
} from './smoke-test.ts';
import * as z from 'zod';
import { compilePath } from './json-path.ts';
import { compilable } from './written-text.ts';

const maxMessages = 100;

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
    messages: z.array(message).min(1).max(maxMessages),
  })
  .transform((written): Extract<Expectation, { kind: 'trajectory' }> => ({ kind: 'trajectory', ...written }));

/** What LangChain calls the roles of OpenAI. */
const roles: ReadonlyMap<string, string> = new Map([
  ['human', 'user'],
  ['HumanMessageChunk', 'user'],
  ['ai', 'assistant'],
  ['AIMessageChunk', 'assistant'],
]);

/** The role of a message of LangChain or of OpenAI, and the tools that it calls; undefined where it is none. */
export function readMessage(written: unknown): TrajectoryMessage | undefined {
  if (!isObject(written)) return undefined;
  const role = written['role'] ?? written['type'];
  const calls = written['tool_calls'] ?? [];
  if (typeof role !== 'string' || role === '' || !Array.isArray(calls)) return undefined;
  const read = calls.map(readCall);
  const known = read.flatMap((call) => call ?? []);
  return known.length === read.length ? { role: roles.get(role) ?? role, calls: known } : undefined;
}

function readCall(written: unknown): ToolCall | undefined {
  if (!isObject(written)) return undefined;
  const called = isObject(written['function']) ? written['function'] : written;
  const { name, args = called['arguments'] ?? {} } = called;
  if (typeof name !== 'string') return undefined;
  if (typeof args !== 'string') return { name, args };
  try {
    return { name, args: JSON.parse(args) };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
