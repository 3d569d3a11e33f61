import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { requested, failed, type Answered } from './line-words.ts';

/** Lets other processes call the methods of these objects over loopback. Values travel as JSON. */
export async function openPartyLine(
  parties: Readonly<Record<string, object>>,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    void json(request)
      .then((body) => carryOut(parties, body))
      .catch(failed)
      .then((result) => response.setHeader('content-type', 'application/json').end(JSON.stringify(result)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The line has no port.');
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${address.port}`, close };
}

async function carryOut(parties: Readonly<Record<string, object>>, body: unknown): Promise<Answered> {
  const { party, operation, given } = requested.parse(body);
  const target = parties[party];
  const method: unknown = target && Reflect.get(target, operation, target);
  if (!target || typeof method !== 'function') throw new Error(`unknown operation: ${party}.${operation}`);
  // What is absent travels as null.
  const answer: unknown = await Reflect.apply(
    method,
    target,
    given.map((each) => each ?? undefined),
  );
  return { answer: answer ?? null };
}
