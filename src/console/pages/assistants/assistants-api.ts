import * as z from 'zod';
import {
  assistantSchema,
  assistantVersion,
  type Assistant,
  type AssistantCreate,
  type AssistantPatch,
  type AssistantSearch,
  type AssistantVersion,
} from '../../../contract/agent/assistant.ts';
import { agentPath } from '../../api/agent-access.ts';
import { call, send } from '../../api/http.ts';
import { readPair } from '../../parts/json-text.ts';

const pathOf = (deploymentId: string, ...parts: readonly string[]): string =>
  agentPath(deploymentId, 'assistants', ...parts);

export const searchAssistants = (id: string, body: AssistantSearch, signal: AbortSignal): Promise<Assistant[]> =>
  call('POST', pathOf(id, 'search'), z.array(assistantSchema), { body, signal });

export const getAssistant = (id: string, assistantId: string, signal: AbortSignal): Promise<Assistant> =>
  call('GET', pathOf(id, assistantId), assistantSchema, { signal });

/** The newest 100 versions, newest first. */
export const listVersions = (id: string, assistantId: string, signal: AbortSignal): Promise<AssistantVersion[]> =>
  call('POST', pathOf(id, assistantId, 'versions'), z.array(assistantVersion), { body: { limit: 100 }, signal });

export const createAssistant = (id: string, body: AssistantCreate): Promise<Assistant> =>
  call('POST', pathOf(id), assistantSchema, { body });

export const patchAssistant = (id: string, assistantId: string, body: AssistantPatch): Promise<Assistant> =>
  call('PATCH', pathOf(id, assistantId), assistantSchema, { body });

export const activateVersion = (id: string, assistantId: string, version: number): Promise<Assistant> =>
  call('POST', pathOf(id, assistantId, 'latest'), assistantSchema, { body: { version } });

export const deleteAssistant = (id: string, assistantId: string): Promise<unknown> =>
  send('DELETE', pathOf(id, assistantId));

/** The query for a search text: `key=value` of the metadata, else a part of the name. */
export function toAssistantSearch(text: string): Pick<AssistantSearch, 'name' | 'metadata'> {
  const metadata = readPair(text);
  if (metadata) return { metadata };
  return text.trim() === '' ? {} : { name: text.trim() };
}
