import type { FreeObject } from '../../../contract/agent/open-word.ts';

/** The fields of an assistant that its tool uses. */
export interface ToolAssistant {
  assistant_id: string;
  graph_id: string;
  name?: string | null | undefined;
  metadata?: FreeObject | null | undefined;
}

/** The longest tool name that model hosts accept. */
const longestName = 64;
/** The number of characters of an assistant's id that make a duplicate name unique. */
const mark = 8;

/**
 * Maps tool names to assistants: a default assistant has its graph's id, another one its own name without unsupported
 * characters. Of duplicate names the first is kept, the others get a part of their id as suffix.
 *
 * @param assistants oldest first, so that a tool keeps its name when others are added.
 */
export function toolNames<A extends ToolAssistant>(assistants: readonly A[]): Map<string, A> {
  const tools = new Map<string, A>();
  const [defaults, others] = [assistants.filter(isDefault), assistants.filter((one) => !isDefault(one))];
  for (const assistant of [...defaults, ...others]) {
    const { assistant_id: id } = assistant;
    const name = sayable(isDefault(assistant) ? assistant.graph_id : (assistant.name ?? ''));
    const marked = `${name.slice(0, longestName - mark - 1)}_${id.slice(0, mark)}`;
    const free = [name, marked, id].find((one) => one !== '' && !tools.has(one));
    if (free !== undefined) tools.set(free, assistant);
  }
  return tools;
}

const isDefault = ({ metadata }: ToolAssistant): boolean => metadata?.['created_by'] === 'system';

const sayable = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, longestName);

/** The input of a tool: the graph's input, wrapped in an object if it is none. */
export interface ToolInput {
  schema: { type: 'object' } & FreeObject;
  /** The graph's input, from the tool's arguments. */
  of: (args: FreeObject) => unknown;
}

/** The field that wraps an input which is not an object. */
const held = 'input';

/** @param schema of the graph's input; undefined if unknown. */
export function toolInput(schema: FreeObject | null | undefined): ToolInput {
  const { type } = schema ?? {};
  if (type === undefined || type === 'object') {
    const { $schema: _, ...rest } = schema ?? {};
    return { schema: { ...rest, type: 'object' }, of: (args) => args };
  }
  return {
    schema: { type: 'object', properties: { [held]: schema }, required: [held] },
    of: (args) => args[held],
  };
}
