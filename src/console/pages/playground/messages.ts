import { isObject } from '../../../kit/json-object.ts';

type Role = 'human' | 'ai' | 'tool' | 'system' | 'other';

/** A tool call of a message; `args` is a string while it is being streamed. */
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
  /** Parts of the content other than text: images, files, reasoning. */
  otherParts: readonly unknown[];
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

const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The text of a message's content: itself, or that of its parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return asList(content)
    .map((part) =>
      typeof part === 'string' ? part : isObject(part) && part['type'] === 'text' ? asText(part['text']) : '',
    )
    .join('');
}

/** Reads a message of a state or a stream; undefined if the value is none. */
export function readMessage(value: unknown, index: number): ChatMessage | undefined {
  if (!isObject(value)) return undefined;
  const { content } = value;
  if (content === undefined) return undefined;
  return {
    id: asText(value['id']) || `at-${index}`,
    role: roles[asText(value['type']) || asText(value['role'])] ?? 'other',
    text: textOf(content),
    name: asText(value['name']) || undefined,
    toolCalls: readToolCalls(value),
    toolCallId: asText(value['tool_call_id']) || undefined,
    isError: value['status'] === 'error',
    otherParts: asList(content).filter((part) => isObject(part) && !handledPartTypes.has(asText(part['type']))),
  };
}

/** Parts of the content that are shown as text or as tool calls. */
const handledPartTypes = new Set(['text', 'tool_use', 'input_json_delta', 'tool_call']);

function readToolCalls(message: Record<string, unknown>): ToolCall[] {
  const whole = asList(message['tool_calls']).filter(isObject);
  const calls = whole.length > 0 ? whole : asList(message['tool_call_chunks']).filter(isObject);
  return calls.map((call, index) => ({
    id: asText(call['id']) || `call-${index}`,
    name: asText(call['name']) || 'a tool',
    args: call['args'],
  }));
}

/** The messages of a state; undefined if it has no list of them. */
export function messagesOf(values: unknown): ChatMessage[] | undefined {
  const messages = isObject(values) ? values['messages'] : undefined;
  if (!Array.isArray(messages)) return undefined;
  return messages.map(readMessage).filter((message) => message !== undefined);
}

/** Adds a chunk to the message that it continues. A complete message replaces it. */
export function addChunk(
  before: Record<string, unknown> | undefined,
  chunk: Record<string, unknown>,
): Record<string, unknown> {
  if (!before || !Array.isArray(chunk['tool_call_chunks'])) return chunk;
  return {
    ...before,
    content: joinContents(before['content'], chunk['content']),
    // Chunks have parsed tool calls from incomplete arguments.
    tool_calls: [],
    tool_call_chunks: joinParts(asList(before['tool_call_chunks']), asList(chunk['tool_call_chunks']), 'args'),
  };
}

function joinContents(before: unknown, more: unknown): unknown {
  if (typeof before === 'string' && typeof more === 'string') return before + more;
  return joinParts(toParts(before), toParts(more), 'text');
}

const toParts = (content: unknown): unknown[] =>
  typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : asList(content);

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
      joined[index] = { ...former, ...known, [field]: asText(former[field]) + asText(part[field]) };
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
