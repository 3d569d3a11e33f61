import { expect, test } from 'vitest';
import { inProcessUser, onBehalfOf } from '../../../src/agent-server/auth/in-process-caller.ts';
import { ClientRequests } from '../../../src/agent-server/python/client-requests.ts';
import type { Asked } from '../../../src/agent-server/python/connection.ts';

const asked = (op: string, args: object = {}): Asked => ({ op, args: { call: 1, ...args }, attachments: [] });
const request = (headers: [string, string][] = []): Asked =>
  asked('client.request', { method: 'GET', path: '/threads?a=1', headers });
const ann = { identity: 'ann', display_name: 'ann', is_authenticated: true, permissions: [] };

test.each<[string, [string, string][], string | undefined]>([
  ['those of the user of the run', [], 'ann'],
  [
    'the same with the headers of every client',
    [
      ['user-agent', 'langgraph-sdk-py/0.4'],
      ['accept', '*/*'],
    ],
    'ann',
  ],
  ['those of its own credentials alone', [['authorization', 'Bearer bob']], undefined],
])('gives a call %s', async (_, headers, user) => {
  let taken: Request | undefined;
  const requests = onBehalfOf({ user: ann }, () => {
    return new ClientRequests((each) => {
      taken = each;
      return Response.json({}, { status: 201 });
    });
  });
  const { value } = await requests.answer(request(headers));
  expect(value).toMatchObject({ status: 201 });
  expect(taken?.url).toBe('http://own/threads?a=1');
  expect(taken && inProcessUser(taken)?.identity).toBe(user);
  expect(taken?.headers.get('authorization') ?? undefined).toBe(user === undefined ? 'Bearer bob' : undefined);
});

test.each<[string, (requests: ClientRequests) => unknown]>([
  ['when the client leaves', (requests) => requests.answer(asked('client.close'))],
  ['at the end of the run', (requests) => requests.end()],
])('hands a response on in parts, and cancels it %s', async (_, leave) => {
  const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>();
  const body = new ReadableStream({ pull: (to) => to.enqueue(new TextEncoder().encode('part')), cancel });
  const requests = new ClientRequests(() => new Response(body));
  await requests.answer(request());
  const { value, attachments } = await requests.answer(asked('client.read'));
  expect([value, String(Buffer.from(attachments?.[0] ?? []))]).toEqual([{ ended: false }, 'part']);
  await leave(requests);
  await cancelled;
  await expect(requests.answer(asked('client.read'))).rejects.toThrow('The call has ended.');
});

test('ends a call that no response has answered yet', async () => {
  const requests = new ClientRequests(() => new Promise(() => undefined));
  const pending = requests.answer(request());
  await requests.answer(asked('client.close'));
  await expect(pending).rejects.toThrow('The client has left.');
});
