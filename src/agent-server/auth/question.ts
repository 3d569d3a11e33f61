import type { Context } from 'hono';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import { isUuid } from '../assistants/assistant.ts';
import { missing, noAssistant } from '../refusal.ts';
import type { Kind } from './access.ts';
import type { Action, AgentAuth, AuthUser, Resource } from './agent-auth.ts';
import { holds } from './filters.ts';
import type { Wanted } from './filters.ts';
import type { FindMetadata } from './rows.ts';

/** A request about which the agent's rules are asked. */
export interface Questioned {
  c: Context;
  auth: AgentAuth;
  user: AuthUser;
  find: FindMetadata;
}

/** Asks the agent's rules; they may change `value`. */
export const ask = (
  { auth, user }: Pick<Questioned, 'auth' | 'user'>,
  resource: Resource,
  action: Action,
  value: FreeObject,
): Promise<Wanted | undefined> => auth.decide({ resource, action, value, user });

/** The kinds by the name of their resource. */
export const RESOURCES = {
  assistant: 'assistants',
  thread: 'threads',
  run: 'threads',
  cron: 'crons',
} as const satisfies Record<Kind, Resource>;

/** What the routes say of a thing that is not there: one that a caller may not see is told of in the same words. */
function notThere(kind: Kind, id: string, runId?: string): Error {
  if (runId !== undefined) return missing(`Run ${runId} does not exist on thread ${id}.`);
  if (kind === 'assistant') return noAssistant(id);
  const words = {
    thread: `Thread ${id.toLowerCase()}`,
    run: `Run ${id}`,
    cron: `Cron ${id}`,
  };
  return missing(`${words[kind]} does not exist.`);
}

/**
 * Holds a thing to what is wanted of it. One that is not there passes: the routes say so. But of a run without a row there
 * may be events left, and nothing tells whose they are.
 *
 * @throws Refusal 404 where the caller may not see it.
 */
export async function mustHold(
  { find }: Pick<Questioned, 'find'>,
  wanted: Wanted | undefined,
  { kind, id, runId }: { kind: Kind; id: string; runId?: string | undefined },
): Promise<void> {
  if (wanted === undefined) return;
  const metadata = await find(kind, id);
  const isLeft = metadata === undefined && runId !== undefined && isUuid(id);
  if (isLeft || (metadata !== undefined && !holds(metadata, wanted))) throw notThere(kind, id, runId);
}
