import { expect, test } from 'vitest';
import { inProcessUser, onBehalfOf } from '../../../../../src/services/agent/auth/in-process-caller.ts';
import { ClientRequests } from '../../../../../src/services/agent/graphs/python/client-requests.ts';
import { messageOf } from '../../../../../src/kit/errors.ts';
import type { Asked } from '../../../../../src/services/agent/graphs/python/connection.ts';

const asked = (op: string, args: object = {}): Asked => ({ op, args: { call: 1, ...args }, attachments: [] });
const request = (headers: [string, string][] = []): Asked =>
  asked('client.request', { method: 'GET', path: '/threads?a=1', headers });
const ofRun = { isRun: true };
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
    }, ofRun);
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
  const requests = new ClientRequests(() => new Response(body), ofRun);
  await requests.answer(request());
  const { value, attachments } = await requests.answer(asked('client.read'));
  expect([value, String(Buffer.from(attachments?.[0] ?? []))]).toEqual([{ ended: false }, 'part']);
  await leave(requests);
  await cancelled;
  await expect(requests.answer(asked('client.read'))).rejects.toThrow('The call has ended.');
});

test('ends a call that no response has answered yet', async () => {
  const requests = new ClientRequests(() => new Promise(() => undefined), ofRun);
  const pending = requests.answer(request());
  await requests.answer(asked('client.close'));
  await expect(pending).rejects.toThrow('The client has left.');
});

test.each([
  ['refuses a call of a rule that leads to itself', { isRun: false }, 10, expect.stringMatching(/headers of its own/)],
  ['lets runs start each other', ofRun, 25, 'answered'],
] as const)('%s', async (_, whose, made, ends) => {
  let calls = 0;
  const call = async (): Promise<Response> => {
    calls += 1;
    if (calls < 25) await new ClientRequests(call, whose).answer(request());
    return new Response();
  };
  const said = await new ClientRequests(call, whose).answer(request()).then(
    () => 'answered',
    (error: unknown) => messageOf(error),
  );
  expect([calls, said]).toEqual([made, ends]);
});
