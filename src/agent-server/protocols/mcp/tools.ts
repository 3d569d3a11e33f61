import type { FreeObject } from '../../../contract/agent/open-word.ts';

/** What is looked at of an assistant that is offered as a tool. */
export interface ToolAssistant {
  assistant_id: string;
  graph_id: string;
  name?: string | null | undefined;
  metadata?: FreeObject | null | undefined;
}

/** The longest name that the hosts of models take. */
const LONGEST = 64;
/** How much of an assistant's id tells two of one name apart. */
const MARK = 8;

/**
 * The assistants by the names of their tools: a graph's default assistant has the graph's id, another one its own name
 * with what models can't say left out. Of several with one name the first keeps it, the others have a part of their id
 * behind it.
 *
 * @param assistants oldest first, so that a tool keeps its name when others come.
 */
export function toolNames<A extends ToolAssistant>(assistants: readonly A[]): Map<string, A> {
  const tools = new Map<string, A>();
  const [defaults, others] = [assistants.filter(isDefault), assistants.filter((one) => !isDefault(one))];
  for (const assistant of [...defaults, ...others]) {
    const { assistant_id: id } = assistant;
    const name = sayable(isDefault(assistant) ? assistant.graph_id : (assistant.name ?? ''));
    const marked = `${name.slice(0, LONGEST - MARK - 1)}_${id.slice(0, MARK)}`;
    const free = [name, marked, id].find((one) => one !== '' && !tools.has(one));
    if (free !== undefined) tools.set(free, assistant);
  }
  return tools;
}

const isDefault = ({ metadata }: ToolAssistant): boolean => metadata?.['created_by'] === 'system';

const sayable = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, LONGEST);

/** What a tool takes: the graph's input, or, where that is no object, an object that holds it. */
export interface ToolInput {
  schema: { type: 'object' } & FreeObject;
  /** The graph's input, from the tool's arguments. */
  of: (args: FreeObject) => unknown;
}

/** The field that holds an input which is no object. */
const HELD = 'input';

/** @param schema of the graph's input; undefined where nobody can tell. */
export function toolInput(schema: FreeObject | null | undefined): ToolInput {
  const { type } = schema ?? {};
  if (type === undefined || type === 'object') {
    const { $schema: _, ...rest } = schema ?? {};
    return { schema: { ...rest, type: 'object' }, of: (args) => args };
  }
  return {
    schema: { type: 'object', properties: { [HELD]: schema }, required: [HELD] },
    of: (args) => args[HELD],
  };
}
