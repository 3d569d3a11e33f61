import { isObject } from '../../../kit/json-object.ts';

type Role = 'human' | 'ai' | 'tool' | 'system' | 'other';

/** A tool call of a message; `args` is text while it is still being written. */
interface ToolCall {
  id: string;
  name: string;
  args: unknown;
}

/** A message as the chat shows it. */
export interface ChatMessage {
  id: string;
  role: Role;
  text: string;
  /** The name of the speaker or of the tool. */
  name: string | undefined;
  toolCalls: readonly ToolCall[];
  /** The call that a tool's message responds to. */
  toolCallId: string | undefined;
  isError: boolean;
  /** Parts of the content that are no text: images, files, reasoning. */
  others: readonly unknown[];
}

const roles: Readonly<Record<string, Role>> = {
  human: 'human',
  user: 'human',
  ai: 'ai',
  assistant: 'ai',
  AIMessageChunk: 'ai',
  tool: 'tool',
  ToolMessageChunk: 'tool',
  system: 'system',
  developer: 'system',
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The text of a message's content: itself, or that of its parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) =>
      typeof part === 'string' ? part : isObject(part) && part['type'] === 'text' ? text(part['text']) : '',
    )
    .join('');
}

/** The message in a state or a stream; undefined where the value is none. */
export function readMessage(value: unknown, place: number): ChatMessage | undefined {
  if (!isObject(value)) return undefined;
  const { content } = value;
  if (content === undefined) return undefined;
  return {
    id: text(value['id']) || `at-${place}`,
    role: roles[text(value['type']) || text(value['role'])] ?? 'other',
    text: textOf(content),
    name: text(value['name']) || undefined,
    toolCalls: readToolCalls(value),
    toolCallId: text(value['tool_call_id']) || undefined,
    isError: value['status'] === 'error',
    others: list(content).filter((part) => isObject(part) && !handledPartTypes.has(text(part['type']))),
  };
}

/** Parts of the content that are shown as text or as tool calls. */
const handledPartTypes = new Set(['text', 'tool_use', 'input_json_delta', 'tool_call']);

function readToolCalls(message: Record<string, unknown>): ToolCall[] {
  const whole = list(message['tool_calls']).filter(isObject);
  const calls = whole.length > 0 ? whole : list(message['tool_call_chunks']).filter(isObject);
  return calls.map((call, index) => ({
    id: text(call['id']) || `call-${index}`,
    name: text(call['name']) || 'a tool',
    args: call['args'],
  }));
}

/** The messages of a state; undefined where it has no list of them. */
export function messagesOf(values: unknown): ChatMessage[] | undefined {
  const messages = isObject(values) ? values['messages'] : undefined;
  if (!Array.isArray(messages)) return undefined;
  return messages.map(readMessage).filter((message) => message !== undefined);
}

/** Adds a chunk to the message that it continues. A message that is no chunk replaces it. */
export function addChunk(
  before: Record<string, unknown> | undefined,
  chunk: Record<string, unknown>,
): Record<string, unknown> {
  if (!before || !Array.isArray(chunk['tool_call_chunks'])) return chunk;
  return {
    ...before,
    content: joinContents(before['content'], chunk['content']),
    // Those of a chunk are read from its part of the arguments.
    tool_calls: [],
    tool_call_chunks: joinParts(list(before['tool_call_chunks']), list(chunk['tool_call_chunks']), 'args'),
  };
}

function joinContents(before: unknown, more: unknown): unknown {
  if (typeof before === 'string' && typeof more === 'string') return before + more;
  return joinParts(toParts(before), toParts(more), 'text');
}

const toParts = (content: unknown): unknown[] =>
  typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : list(content);

/** Joins parts with the same index; `field` is the text that grows. */
function joinParts(before: readonly unknown[], more: readonly unknown[], field: string): unknown[] {
  const joined = [...before];
  for (const part of more) {
    if (!isObject(part)) continue;
    const index = joined.findLastIndex((other) => isObject(other) && continues(other, part, field));
    const former = joined[index];
    if (isObject(former)) {
      const known = Object.fromEntries(
        Object.entries(part).filter(([, value]) => value !== undefined && value !== null),
      );
      joined[index] = { ...former, ...known, [field]: text(former[field]) + text(part[field]) };
    } else joined.push(part);
  }
  return joined;
}

function continues(former: Record<string, unknown>, part: Record<string, unknown>, field: string): boolean {
  if (part['index'] !== undefined) return former['index'] === part['index'];
  const sameKind = former['type'] === part['type'] && former['index'] === undefined;
  return field === 'text'
    ? sameKind && part['type'] === 'text'
    : part['id'] === undefined || former['id'] === part['id'];
}
