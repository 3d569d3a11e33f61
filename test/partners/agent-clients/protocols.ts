import { TaskState } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client } from '@langchain/langgraph-sdk';
import { describe, expect, test } from 'vitest';
import {
  answerOf,
  byId,
  data,
  message,
  request,
  send,
  streamed,
  text,
} from '../../services/agent/protocols/a2a-speaking.ts';
import type { Deployed } from './deployed.ts';

/** The official clients of the agent-to-agent protocol and the model context protocol. */
export function protocolsOf(given: () => Deployed): void {
  /** Sends a request with the key. */
  const asking = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const requested = new Request(input, init);
    requested.headers.set('x-api-key', given().apiKey);
    return fetch(requested);
  };
  const agents = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl: asking })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl: asking }),
  });
  // The address has a path of its own, below which the card is served.
  const agent = (assistant: string) =>
    agents.createFromUrl(`${given().url}/`, `.well-known/agent-card.json?assistant_id=${assistant}`);

  describe('the client of agent to agent', () => {
    test('reads a card, sends a message, and receives the reply', async () => {
      const client = await agent('chat');
      const task = await send(client, message([text('Good day')]));
      expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
      expect(answerOf(task)).toBe('Good day to you');
      expect(await client.getTask(byId(task.id))).toMatchObject({ id: task.id, contextId: task.contextId });
      const { threads } = new Client({ apiUrl: given().url, apiKey: given().apiKey });
      expect(await threads.getState(task.contextId)).toMatchObject({ values: { messages: { length: 2 } } });
    });

    test('streams the reply to a message', async () => {
      const reported = await streamed((await agent('chat')).sendMessageStream(request(message([text('Good day')]))));
      expect(reported[0]?.$case).toBe('task');
      expect(reported.at(-1)).toMatchObject({
        $case: 'statusUpdate',
        value: { status: { state: TaskState.TASK_STATE_COMPLETED } },
      });
      expect(JSON.stringify(reported)).toContain('Good day to you');
    });

    test('cancels a long task', async () => {
      const client = await agent('slow');
      const started = await send(client, message([data({ each: 60_000 })]), { returnImmediately: true });
      const ended = await client.cancelTask({ tenant: '', id: started.id, metadata: undefined });
      expect(ended.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
      expect((await client.getTask(byId(started.id))).status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    });

    test('answers a question, and the same task continues', async () => {
      const client = await agent('interrupts');
      const requested = await send(client, message([data({ request: 'dance' })]));
      expect(requested.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
      const answer = message([text('yes')], { taskId: requested.id, contextId: requested.contextId });
      const done = await send(client, answer);
      expect([done.id, done.status?.state]).toEqual([requested.id, TaskState.TASK_STATE_COMPLETED]);
      expect(JSON.stringify(done.artifacts)).toContain('dance: yes');
    });
  });

  describe('the client of the model context protocol', () => {
    test.each(['auto', 'legacy'] as const)('lists tools and calls them (%s)', async (mode) => {
      const client = new McpClient({ name: 'partner', version: '1.0.0' }, { versionNegotiation: { mode } });
      const headers = { 'x-api-key': given().apiKey };
      const transport = new StreamableHTTPClientTransport(new URL(`${given().url}/mcp`), { requestInit: { headers } });
      await client.connect(transport);
      try {
        const { tools } = await client.listTools();
        const greeter = tools.find(({ name }) => name === 'greeter');
        expect(greeter?.inputSchema).toMatchObject({ type: 'object', properties: { input: {} } });
        expect(await client.callTool({ name: 'greeter', arguments: { input: 'world' } })).toMatchObject({
          content: [{ type: 'text', text: expect.stringContaining('"output":"hello world"') }],
        });
        const failed = await client.callTool({ name: 'greeter', arguments: { input: 'x', fail: 'no ink' } });
        expect(failed).toMatchObject({ isError: true, content: [{ text: 'RequestedFailure: no ink' }] });
      } finally {
        await client.close();
      }
    });
  });
}
