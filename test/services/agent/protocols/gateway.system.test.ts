import { silentLogger } from '../../../../src/kit/logger.ts';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { TaskState } from '@a2a-js/sdk';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { Gateway } from '../../../../src/services/control/gateway/gateway.ts';
import { createHttpServer } from '../../../../src/services/control/server.ts';
import { serveAgent } from '../serving.ts';
import type { Serving } from '../serving.ts';
import { answerOf, cardPath, factory, message, request, send, streamed, text } from './a2a-speaking.ts';

const deployment = '6f1e6a3c-0f6e-4f43-8a51-5d2d0f2f9a11';
let serving: Serving;
let front: Server;
/** The deployment's address, with a base path. */
let address: string;

beforeAll(async () => {
  serving = await serveAgent({ token: 'only-the-gateway' });
  const gateway = new Gateway({ authorize: async () => 'allowed', clock: systemClock, log: silentLogger });
  gateway.switchTo(deployment, { origin: serving.url, token: 'only-the-gateway' });
  front = createHttpServer({ fetch: () => expect.unreachable(), agents: gateway.handle, basePath: '/api' });
  await once(front.listen(0, '127.0.0.1'), 'listening');
  address = `http://127.0.0.1:${Object(front.address()).port}/api/agents/${deployment}`;
});
afterAll(async () => {
  front.closeAllConnections();
  front.close();
  await serving.close();
});

test('the card has the public address, and the official client works with it', async () => {
  const client = await factory.createFromUrl(`${address}${cardPath('chat')}`, '');
  const card = await client.getAgentCard();
  expect(card.supportedInterfaces.map(({ url }) => url)).toEqual([`${address}/a2a/chat`, `${address}/a2a/chat`]);
  expect(answerOf(await send(client, message([text('Hello')])))).toBe('Good day to you');
  const reported = await streamed(client.sendMessageStream(request(message([text('Hello')]))));
  expect(reported.at(-1)).toMatchObject({ value: { status: { state: TaskState.TASK_STATE_COMPLETED } } });
});

test('the official MCP client lists the tools there', async () => {
  const client = new Client({ name: 'tests', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${address}/mcp`)));
  const { content } = await client.callTool({ name: 'echo', arguments: { input: 'world' } });
  expect(content).toEqual([{ type: 'text', text: expect.stringContaining('hello world') }]);
  await client.close();
});

test('the documentation page finds its files and the description there', async () => {
  const page = await fetch(`${address}/docs`);
  const wanted = [...(await page.text()).matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path = '']) => path);
  for (const path of [...wanted, 'openapi.json']) {
    const asset = await fetch(new URL(path, page.url));
    expect([path, asset.status]).toEqual([path, 200]);
    await asset.arrayBuffer();
  }
});
