import { isObject } from '../../kit/json-object.ts';
import type { ToolCall, TrajectoryMessage } from './smoke-test.ts';

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
