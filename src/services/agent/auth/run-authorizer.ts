import { runCreate, type RunCreate } from '../../../contract/agent/run.ts';
import type { FreeObject } from '../../../contract/agent/open-word.ts';
import { toPlainNumbers } from '../../../kit/exact-number.ts';
import { validateExactly } from '../api/body.ts';
import { isDefault, type StoredAssistant } from '../assistants/assistant.ts';
import { noAssistant } from '../refusal.ts';
import type { AgentAuth } from './agent-auth.ts';
import { authorizeRunRequest } from './authorize-runs.ts';
import { userIn } from './caller.ts';
import { matches, type MetadataFilter } from './filters.ts';
import { callAuthHandler } from './call-auth-handler.ts';
import type { FindMetadata } from './find-metadata.ts';

const requestOf = runCreate.strip();

/** Authorizes runs on acceptance, from any endpoint. */
export type RunAuthorizer = ReturnType<typeof createRunAuthorizer>;

/** Applies the agent's rules to runs. A cron that predates the rules names no user, and keeps running. */
export function createRunAuthorizer(auth: AgentAuth, find: FindMetadata) {
  return {
    /**
     * Checks whether the caller may read the assistant, whose configuration and context the run sees.
     *
     * @throws Refusal 404 if a filter hides the assistant, or if the rules refuse.
     */
    async mayUse(assistant: StoredAssistant, request: RunCreate): Promise<void> {
      const user = userIn(request.config?.configurable);
      if (user === undefined) return;
      const filter = await callAuthHandler({ auth, user }, 'assistants', 'read', {
        assistant_id: assistant.assistant_id,
      });
      if (filter !== undefined && !mayRun(assistant, filter)) throw noAssistant(request.assistant_id);
    },
    /**
     * Authorizes a cron's run as if its creator requested it now; returns the request as it will run. @throws Refusal
     * 404 if a filter hides the thread, or if the rules refuse.
     */
    async asMaker(request: RunCreate, threadId: string | undefined): Promise<RunCreate> {
      const user = userIn(request.config?.configurable);
      if (user === undefined) return request;
      const authorized = await authorizeRunRequest({ auth, user, find }, { ...request }, threadId);
      return validateExactly(requestOf, authorized, requestOf.parse(toPlainNumbers(authorized)));
    },
  };
}

/** Whether a filter lets an assistant run. A default assistant has no owner: only its own metadata can contradict. */
function mayRun(assistant: StoredAssistant, filter: MetadataFilter): boolean {
  const { metadata } = assistant;
  return matches(metadata, isDefault(assistant) ? ofKeysIn(metadata, filter) : filter);
}

const ofKeysIn = (metadata: FreeObject, filter: MetadataFilter): MetadataFilter =>
  Object.fromEntries(Object.entries(filter).filter(([key]) => Object.hasOwn(metadata, key)));
