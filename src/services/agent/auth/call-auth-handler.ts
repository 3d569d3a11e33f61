import type { Context } from 'hono';
import { isUuid } from '../../../kit/uuid.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import { noAssistant, noCron, noRun, noThread } from '../refusal.ts';
import type { Kind } from './access.ts';
import type { Action, AgentAuth, AuthUser, Resource } from './agent-auth.ts';
import { matches, type MetadataFilter } from './filters.ts';
import type { FindMetadata } from './find-metadata.ts';

export interface AuthorizationContext {
  c: Context;
  auth: AgentAuth;
  user: AuthUser;
  find: FindMetadata;
}

/** Calls the agent's handler, which may change `value`. */
export const callAuthHandler = (
  { auth, user }: Pick<AuthorizationContext, 'auth' | 'user'>,
  resource: Resource,
  action: Action,
  value: FreeObject,
): Promise<MetadataFilter | undefined> => auth.decide({ resource, action, value, user });

export const resources = {
  assistant: 'assistants',
  thread: 'threads',
  run: 'threads',
  cron: 'crons',
} as const satisfies Record<Kind, Resource>;

/** The error for a missing resource, which a hidden one gets too. */
function notFound(kind: Kind, id: string, runId?: string): Error {
  if (runId !== undefined) return noRun(runId, id);
  if (kind === 'assistant') return noAssistant(id);
  if (kind === 'thread') return noThread(id.toLowerCase());
  return kind === 'run' ? noRun(id) : noCron(id);
}

/**
 * Checks a resource against a filter. A missing one passes, since the routes report it, but not a deleted run, whose
 * events may remain. @throws Refusal 404 if the caller may not see it.
 */
export async function assertMatchesFilter(
  { find }: Pick<AuthorizationContext, 'find'>,
  filter: MetadataFilter | undefined,
  { kind, id, runId }: { kind: Kind; id: string; runId?: string | undefined },
): Promise<void> {
  if (filter === undefined) return;
  const metadata = await find(kind, id);
  const isDeletedRun = metadata === undefined && (runId !== undefined || kind === 'run') && isUuid(id);
  if (isDeletedRun || (metadata !== undefined && !matches(metadata, filter))) throw notFound(kind, id, runId);
}
