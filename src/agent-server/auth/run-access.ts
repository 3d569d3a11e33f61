import { RunCreate } from '../../contract/agent/run.ts';
import type { FreeObject } from '../../contract/agent/open-word.ts';
import { isDefault } from '../assistants/assistant.ts';
import type { StoredAssistant } from '../assistants/assistant.ts';
import { noAssistant } from '../refusal.ts';
import { userOf } from './agent-auth.ts';
import type { AgentAuth, AuthUser } from './agent-auth.ts';
import { accessToRun } from './ask-runs.ts';
import { USER_CLAIM } from './caller.ts';
import { holds } from './filters.ts';
import type { Wanted } from './filters.ts';
import { ask } from './question.ts';
import type { FindMetadata } from './rows.ts';

const requestOf = RunCreate.strip();

/** The agent's rules of access where a run is accepted, whichever way led there. */
export interface RunAccess {
  /**
   * Asks whether the caller of a run may read its assistant, whose configuration and context the run and its graph see.
   *
   * @throws Refusal 404 where a filter hides the assistant, AuthRefusal where the rules refuse.
   */
  mayUse(assistant: StoredAssistant, request: RunCreate): Promise<void>;
  /**
   * Asks about the run of a cron as if the cron's maker requested it now: what the maker could see may have changed hands.
   *
   * @returns the request as it is carried out.
   * @throws Refusal 404 where a filter hides the thread, AuthRefusal where the rules refuse.
   */
  asMaker(request: RunCreate, threadId: string | undefined): Promise<RunCreate>;
}

/** Holds runs to the agent's rules. A cron from before the agent had rules names no user, and runs as it did. */
export function runAccess(auth: AgentAuth, find: FindMetadata): RunAccess {
  return {
    async mayUse(assistant, request) {
      const user = userIn(request);
      if (user === undefined) return;
      const wanted = await ask({ auth, user }, 'assistants', 'read', { assistant_id: assistant.assistant_id });
      if (wanted !== undefined && !mayRun(assistant, wanted)) throw noAssistant(request.assistant_id);
    },
    async asMaker(request, threadId) {
      const user = userIn(request);
      return user === undefined
        ? request
        : requestOf.parse(await accessToRun({ auth, user, find }, { ...request }, threadId));
    },
  };
}

/** Who asked for a run. Only the server itself writes that into a `configurable`. */
function userIn({ config }: RunCreate): AuthUser | undefined {
  const user = config?.configurable?.[USER_CLAIM];
  return user === undefined ? undefined : userOf(user);
}

/**
 * Whether a filter lets an assistant run. The default assistant of a graph belongs to nobody, so that everybody runs it
 * unless its own metadata contradicts the filter.
 */
function mayRun(assistant: StoredAssistant, wanted: Wanted): boolean {
  const { metadata } = assistant;
  return holds(metadata, isDefault(assistant) ? ofKeysIn(metadata, wanted) : wanted);
}

const ofKeysIn = (metadata: FreeObject, wanted: Wanted): Wanted =>
  Object.fromEntries(Object.entries(wanted).filter(([key]) => Object.hasOwn(metadata, key)));
