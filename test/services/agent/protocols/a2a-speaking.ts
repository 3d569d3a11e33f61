import { randomUUID } from 'node:crypto';
import { Role } from '@a2a-js/sdk';
import type { Message, Part, StreamResponse, Task } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import type { Client } from '@a2a-js/sdk/client';

const legacyCompat = { enabled: true };

/** Creates official clients of either protocol version. */
export const factory = new ClientFactory({
  transports: [new JsonRpcTransportFactory({ legacyCompat })],
  cardResolver: new DefaultAgentCardResolver({ legacyCompat }),
});

/** The path of an assistant's card. */
export const cardPath = (assistant: string): string => `/.well-known/agent-card.json?assistant_id=${assistant}`;

const part = (content: NonNullable<Part['content']>): Part => ({
  content,
  metadata: undefined,
  filename: '',
  mediaType: '',
});
export const text = (value: string): Part => part({ $case: 'text', value });
export const data = (value: object): Part => part({ $case: 'data', value });

export const message = (parts: Part[], more: Partial<Message> = {}): Message => ({
  messageId: randomUUID(),
  contextId: '',
  taskId: '',
  role: Role.ROLE_USER,
  parts,
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
  ...more,
});

export const request = (
  said: Message,
  { returnImmediately = false, historyLength }: { returnImmediately?: boolean; historyLength?: number } = {},
) => ({
  tenant: '',
  message: said,
  configuration: {
    acceptedOutputModes: [],
    taskPushNotificationConfig: undefined,
    returnImmediately,
    ...(historyLength === undefined ? {} : { historyLength }),
  },
  metadata: undefined,
});

/** Sends a message and expects a task. */
export async function send(client: Client, said: Message, more: Parameters<typeof request>[1] = {}): Promise<Task> {
  const answer = await client.sendMessage(request(said, more));
  if ('messageId' in answer) throw new Error('Received a message instead of a task.');
  return answer;
}

/** All payloads of a stream. */
export async function streamed(
  events: AsyncIterable<StreamResponse>,
): Promise<NonNullable<StreamResponse['payload']>[]> {
  const payloads: NonNullable<StreamResponse['payload']>[] = [];
  for await (const { payload } of events) if (payload) payloads.push(payload);
  return payloads;
}

export const textsOf = (parts: readonly Part[] | undefined): string =>
  (parts ?? []).map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
/** The agent's final text. */
export const answerOf = (task: Task): string => textsOf(task.artifacts[0]?.parts);
/** The result of a task, if it is data. */
export const dataOf = (task: Task): unknown => {
  const content = task.artifacts[0]?.parts[0]?.content;
  return content?.$case === 'data' ? content.value : undefined;
};
export const byId = (id: string) => ({ tenant: '', id });
