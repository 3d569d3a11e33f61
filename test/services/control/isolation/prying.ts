import { join } from 'node:path';
import * as z from 'zod';
import type { RunningAgent } from '../../../../src/services/control/compute/compute.ts';
import { ask } from '../compute/agents.ts';

/** A stand-in for the agent server that tries what it can reach. */
export const pryingAgent = join(import.meta.dirname, 'prying-agent.mjs');

const tried = z.union([
  z.object({ done: z.literal(true), said: z.string(), pid: z.int(), uid: z.int() }),
  z.object({ done: z.literal(false), code: z.string() }),
]);
export type Tried = z.infer<typeof tried>;

/** An action for the agent to try, with its argument. */
export type Attempt = readonly [
  what: 'read' | 'list' | 'write' | 'text' | 'run' | 'kill' | 'connect' | 'query' | 'hold' | 'abandon',
  of: string,
];

/** The path that makes an agent try something. */
const pathOf = ([what, of]: Attempt): string => `/try?${new URLSearchParams({ what, of }).toString()}`;

/** Has the agent at an address try something. */
export async function attempt(address: string, headers: Record<string, string>, requested: Attempt): Promise<Tried> {
  return tried.parse(await (await fetch(`${address}${pathOf(requested)}`, { headers })).json());
}

/** Has an agent try something, without a gateway in between. */
export async function attemptAt(agent: RunningAgent, requested: Attempt): Promise<Tried> {
  return tried.parse(await (await ask(agent, pathOf(requested))).json());
}

/** The output of a successful attempt; throws for a failed one. */
export function said(of: Tried): string {
  if (!of.done) throw new Error(of.code);
  return of.said;
}
