import * as z from 'zod';
import { runConfigRequest, freeObject, type FreeObject } from '../../../contract/agent/open-word.ts';
import { fromJson } from '../../../kit/json-text.ts';
import { StartupError } from '../startup-error.ts';
import { isDefault, type StoredAssistant } from './assistant.ts';

const settings = z.record(z.string(), z.looseObject({ ...runConfigRequest.shape, context: freeObject.optional() }));

/** What an environment gives the default assistant of each graph. */
export type DefaultSettings = ReadonlyMap<string, { config: FreeObject; context: FreeObject }>;

/** Reads `LANGGRAPH_CONFIG`: the configs of default assistants, by graph. @throws StartupError without the value. */
export function defaultSettings(text: string | undefined): DefaultSettings {
  if (!text) return new Map();
  const read = settings.safeParse(fromJson(text));
  if (!read.success)
    throw new StartupError('environment', [
      'The variable LANGGRAPH_CONFIG is no JSON object of graphs and their configurations.',
      'Set it to one such as {"agent": {"configurable": {"model": "small"}}}, or remove it.',
    ]);
  return new Map(
    Object.entries(read.data).map(([graphId, { context = {}, ...config }]) => [graphId, { config, context }]),
  );
}

/** An assistant as it counts: a default one that has no config, or no context, of its own has that of the environment. */
export function withDefaults<T extends Pick<StoredAssistant, 'assistant_id' | 'graph_id' | 'config' | 'context'>>(
  assistant: T,
  defaults: DefaultSettings,
): T {
  const given = defaults.get(assistant.graph_id);
  if (!given || !isDefault(assistant)) return assistant;
  const { config, context } = assistant;
  const own = (values: FreeObject, otherwise: FreeObject) => (Object.keys(values).length > 0 ? values : otherwise);
  return { ...assistant, config: own(config, given.config), context: own(context, given.context) };
}
