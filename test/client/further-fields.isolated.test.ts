import nock from 'nock';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectAgentServer, type AgentServerClient } from '../../src/client/agent.ts';
import { assistantSchema } from '../../src/contract/agent/assistant.ts';
import { threadSchema } from '../../src/contract/agent/thread.ts';
import { parseEvents } from '../../src/kit/sse/parse-events.ts';

const moment = '2026-01-01T00:00:00Z';
const id = '11111111-1111-4111-8111-111111111111';

const assistant = {
  assistant_id: id,
  graph_id: 'echo',
  name: 'Echo',
  config: {},
  context: {},
  metadata: {},
  version: 1,
  created_at: moment,
  updated_at: moment,
  colour: 'blue',
};
const thread = {
  thread_id: id,
  created_at: moment,
  updated_at: moment,
  metadata: {},
  status: 'idle',
  config: {},
  values: null,
  colour: 'blue',
};
const stream = `event: metadata\ndata: {"run_id":"${id}"}\n\nevent: weather\ndata: {"sun":true}\n\n`;

describe('in process', () => {
  test('an assistant keeps fields that nobody knows', { meta: { claims: ['agent.assistants.further-fields'] } }, () =>
    expect(assistantSchema.parse(assistant)).toMatchObject({ colour: 'blue' }),
  );

  test('a thread keeps fields that nobody knows', { meta: { claims: ['agent.threads.further-fields'] } }, () =>
    expect(threadSchema.parse(thread)).toMatchObject({ colour: 'blue' }),
  );

  test(
    'an event of a type that nobody knows is handed on',
    { meta: { claims: ['agent.stream.further-types'] } },
    async () => {
      const bytes = (async function* () {
        yield new TextEncoder().encode(stream);
      })();
      const types: string[] = [];
      for await (const { event } of parseEvents(bytes, { maxEventBytes: 1000 })) types.push(event);
      expect(types).toEqual(['metadata', 'weather']);
    },
  );
});

describe('over HTTP', () => {
  const url = 'http://127.0.0.1:4999';
  let client: AgentServerClient;
  beforeEach(() => {
    nock.disableNetConnect();
    client = connectAgentServer({ url, userAgent: 'landfall-tests' });
  });
  afterEach(async () => {
    await client.close();
    nock.cleanAll();
    nock.enableNetConnect();
  });

  test(
    'an assistant keeps fields that nobody knows',
    { meta: { claims: ['agent.assistants.further-fields'] } },
    async () => {
      nock(url).get(`/assistants/${id}`).reply(200, assistant);
      expect(await client.getAssistant(id)).toMatchObject({ colour: 'blue' });
    },
  );

  test('a thread keeps fields that nobody knows', { meta: { claims: ['agent.threads.further-fields'] } }, async () => {
    nock(url).get(`/threads/${id}`).reply(200, thread);
    expect(await client.getThread(id)).toMatchObject({ colour: 'blue' });
  });

  test(
    'an event of a type that nobody knows is handed on',
    { meta: { claims: ['agent.stream.further-types'] } },
    async () => {
      nock(url).post('/runs/stream').reply(200, stream, { 'content-type': 'text/event-stream' });
      const types: string[] = [];
      for await (const { event } of client.streamRun({ assistant_id: 'echo', input: {} }, undefined)) types.push(event);
      expect(types).toEqual(['metadata', 'weather']);
    },
  );
});
