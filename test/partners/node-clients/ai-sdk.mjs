// The transport of `useChat` to an agent server. In JavaScript, because its packages are installed by the run.
import { randomUUID } from 'node:crypto';
import { LangSmithDeploymentTransport, toUIMessageStream } from '@ai-sdk/langchain';
import { RemoteGraph } from '@langchain/langgraph/remote';
import { readUIMessageStream } from 'ai';
import { expectSame, works } from '../clients/case.ts';
import { clientOf } from '../clients/sdk.ts';

const optionsOf = ({ url, apiKey }, graphId) => (apiKey === null ? { url, graphId } : { url, apiKey, graphId });

const userMessage = (text) => ({ id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] });

const send = (server, text) =>
  new LangSmithDeploymentTransport(optionsOf(server, 'helper')).sendMessages({
    trigger: 'submit-message',
    chatId: randomUUID(),
    messageId: undefined,
    messages: [userMessage(text)],
    abortSignal: undefined,
  });

/** The message that a chat shows in the end. */
const messageOf = async (stream) => (await Array.fromAsync(readUIMessageStream({ stream }))).at(-1);

const partsOf = ({ parts }, type) => parts.filter((part) => part.type === type);

const features = {
  async 'transport: chat'(server) {
    const chunks = await Array.fromAsync(await send(server, 'hi'));
    const words = chunks.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta);
    expectSame(words, ['Good ', 'day ', 'to ', 'you']);
    expectSame([chunks[0].type, chunks.at(-1).type], ['start', 'finish']);
  },
  async 'transport: tools'(server) {
    const message = await messageOf(await send(server, 'the weather'));
    const [{ toolName, state, input, output }] = partsOf(message, 'dynamic-tool');
    expectSame([toolName, state, input], ['weather', 'output-available', { city: 'Paris' }]);
    expectSame(output, 'It is sunny in Paris');
    expectSame(
      partsOf(message, 'text').map(({ text }) => text),
      ['I heard: It is sunny in Paris'],
    );
  },
  async '`toUIMessageStream` with an interrupt, which it shows as an error'(server) {
    const graph = new RemoteGraph(optionsOf(server, 'helper'));
    const { thread_id } = await clientOf('1.15.0', server).threads.create();
    const options = { streamMode: ['values', 'messages'], configurable: { thread_id } };
    const stream = await graph.stream({ messages: [{ role: 'user', content: 'book' }] }, options);
    const chunks = await Array.fromAsync(toUIMessageStream(stream));
    expectSame(chunks.at(-1).type, 'error');
    expectSame(JSON.parse(chunks.at(-1).errorText)[0].value.action_requests[0].name, 'book');
  },
  async '`toUIMessageStream` with custom events'(server) {
    const graph = new RemoteGraph(optionsOf(server, 'helper'));
    const input = { messages: [{ role: 'user', content: 'the weather' }] };
    const stream = await graph.stream(input, { streamMode: ['values', 'messages', 'custom'] });
    const chunks = await Array.fromAsync(toUIMessageStream(stream));
    const custom = chunks.filter(({ type }) => type.startsWith('data-'));
    expectSame(
      custom.map(({ data }) => data),
      [{ looking: 'Paris' }],
    );
  },
};

export const aiSdkCases = Object.entries(features).map(([feature, use]) => ({
  client: '@ai-sdk/langchain',
  version: '3.0.99',
  feature,
  run: (server) => use(server).then(() => works),
}));
