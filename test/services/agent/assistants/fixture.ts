import {
  assistantSchema,
  type Assistant,
  assistantVersion,
  type AssistantVersion,
} from '../../../../src/contract/agent/assistant.ts';
import * as z from 'zod';
import type { Ask } from '../ask.ts';

/** Parses an assistant from a response with status 200. */
export async function assistantOf(answer: ReturnType<Ask>): Promise<Assistant> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(`The server answered ${status}: ${JSON.stringify(body)}`);
  return assistantSchema.parse(body);
}

/** Creates an assistant of a graph for one test. */
export const made = (ask: Ask, request: object = {}): Promise<Assistant> =>
  assistantOf(ask('POST', '/assistants', { graph_id: 'echo', ...request }));

/** The versions of an assistant, newest first. */
export async function versionsOf(ask: Ask, id: string, request: object = {}): Promise<AssistantVersion[]> {
  return z.array(assistantVersion).parse((await ask('POST', `/assistants/${id}/versions`, request)).body);
}

/** The version numbers, newest first. */
export const numbersOf = async (ask: Ask, id: string): Promise<number[]> =>
  (await versionsOf(ask, id, { limit: 1000 })).map(({ version }) => version);

/** The assistant's response to Ada: its greeting and her name. */
export async function says(ask: Ask, id: string): Promise<unknown> {
  const { body } = await ask('POST', '/runs/wait', { assistant_id: id, input: { input: 'Ada' } });
  return Object(body)['output'];
}
