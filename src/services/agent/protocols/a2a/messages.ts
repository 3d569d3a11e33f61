import { Role, type Artifact, type Message, type Part } from '@a2a-js/sdk';
import { ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import { isObject } from '../../../../kit/json-object.ts';
import type { FreeObject } from '../../../../contract/agent/open-word.ts';

/** A task and its context: a run and its thread. */
export interface TaskIds {
  taskId: string;
  contextId: string;
}

/** The key of a graph's input and state that holds the messages. */
const messagesField = 'messages';

/**
 * Converts a message to a graph's input: its texts become one user message, the fields of its data are added. @param
 * takesMessages whether the input has `messages`. @throws A2AError if this graph can't receive it.
 */
export function inputOf({ messageId, parts }: Message, takesMessages: boolean): FreeObject {
  const { texts, data } = sortedParts(parts);
  const fields: FreeObject = {};
  for (const value of data) {
    if (!isObject(value))
      throw new RequestMalformedError('A data part has to be an object: fields of the graph’s input.');
    Object.assign(fields, value);
  }
  if (texts.length === 0) return fields;
  if (!takesMessages) {
    throw new ContentTypeNotSupportedError(
      'This graph takes no messages: send the fields of its input in a data part.',
    );
  }
  const before: unknown = fields[messagesField];
  const said = { role: 'user', content: texts.join('\n'), id: messageId };
  return { ...fields, [messagesField]: [...(Array.isArray(before) ? before : []), said] };
}

/** The value that resumes an interrupted graph: the only value of the data, else the text. */
export function resumeOf({ parts }: Message): unknown {
  const { texts, data } = sortedParts(parts);
  return data.length === 1 && texts.length === 0
    ? data[0]
    : [...texts, ...data.map((value) => JSON.stringify(value))].join('\n');
}

function sortedParts(parts: readonly Part[]): { texts: string[]; data: unknown[] } {
  if (parts.length === 0) throw new RequestMalformedError('message.parts is empty. Send at least one part.');
  const [texts, data]: [string[], unknown[]] = [[], []];
  for (const { content } of parts) {
    if (content?.$case === 'text') texts.push(content.value);
    else if (content?.$case === 'data') data.push(content.value);
    else if (content === undefined) throw new RequestMalformedError('A part of the message has no content.');
    else throw new ContentTypeNotSupportedError('Files are not supported. Send text or data.');
  }
  return { texts, data };
}

/** A message of a graph's state in the API's form, with the fields used here. */
interface StateMessage {
  id: string;
  role: Role;
  text: string;
}

/** The messages of a state from the one with the given id on; all of them if it is not among them. */
function messagesSince(values: unknown, messageId: string | undefined): StateMessage[] {
  const messages: unknown = isObject(values) ? values[messagesField] : undefined;
  if (!Array.isArray(messages)) return [];
  const begin = messageId === undefined ? -1 : messages.findIndex((one) => isObject(one) && one['id'] === messageId);
  return messages.slice(Math.max(begin, 0)).flatMap((one, index) => readStateMessage(one, index) ?? []);
}

const roles: ReadonlyMap<string, Role> = new Map([
  ['human', Role.ROLE_USER],
  ['user', Role.ROLE_USER],
  ['ai', Role.ROLE_AGENT],
  ['AIMessageChunk', Role.ROLE_AGENT],
  ['assistant', Role.ROLE_AGENT],
]);

/** Undefined for messages of neither the user nor the agent, such as a tool's. */
export function readStateMessage(message: unknown, index: number): StateMessage | undefined {
  if (!isObject(message)) return undefined;
  const { id, type, role, content } = message;
  const known = roles.get(String(type ?? role));
  if (known === undefined) return undefined;
  return { id: typeof id === 'string' && id !== '' ? id : `message-${index}`, role: known, text: textOf(content) };
}

/** The text of a message's content, which may be a list of blocks. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((block) => (isObject(block) && typeof block['text'] === 'string' ? block['text'] : '')).join('');
}

/** The messages of a task, oldest first. */
export function historyOf(values: unknown, messageId: string | undefined, ids: TaskIds): Message[] {
  return messagesSince(values, messageId)
    .filter(({ text }) => text !== '')
    .map(({ id, role, text }) => ({ ...ids, messageId: id, role, parts: [textPart(text)], ...nothingMore }));
}

/** The result of a task: the last message of the agent, else the state. */
export function artifactsOf(values: unknown, messageId: string | undefined): Artifact[] {
  const said = messagesSince(values, messageId).findLast(({ role, text }) => role === Role.ROLE_AGENT && text !== '');
  if (said) return [artifact(said.id, textPart(said.text))];
  if (values === null || values === undefined) return [];
  const { [messagesField]: _, ...fields } = isObject(values) ? values : { values };
  return Object.keys(fields).length > 0 ? [artifact('state', dataPart(fields))] : [];
}

/** The questions of an interrupted graph: the `values` of its interrupts. */
export function question(requested: readonly unknown[], ids: TaskIds): Message {
  const parts = requested.map((value) => (typeof value === 'string' ? textPart(value) : dataPart(value)));
  return agentMessage(parts.length > 0 ? parts : [textPart('The agent waits for an answer.')], ids, 'question');
}

/** A message of the server itself about a task. */
export const remark = (text: string, ids: TaskIds): Message => agentMessage([textPart(text)], ids, 'remark');

const agentMessage = (parts: Part[], ids: TaskIds, kind: string): Message => ({
  ...ids,
  messageId: `${ids.taskId}-${kind}`,
  role: Role.ROLE_AGENT,
  parts,
  ...nothingMore,
});

const nothingMore = { metadata: undefined, extensions: [], referenceTaskIds: [] };

export const artifact = (artifactId: string, part: Part): Artifact => ({
  artifactId,
  name: 'answer',
  description: '',
  parts: [part],
  metadata: undefined,
  extensions: [],
});

const part = (content: Part['content'], mediaType: string): Part => ({
  content,
  metadata: undefined,
  filename: '',
  mediaType,
});

export const textPart = (value: string): Part => part({ $case: 'text', value }, 'text/plain');

const dataPart = (value: unknown): Part => part({ $case: 'data', value }, 'application/json');
