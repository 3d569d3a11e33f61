import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pushBody, send, signatureOf, startIntake } from './intake.ts';
import type { TestIntake } from './intake.ts';
import { endWithTest } from '../../child-process.ts';

async function dial({ server }: TestIntake): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

const head = (more: Record<string, string>): string =>
  [
    'POST / HTTP/1.1',
    'host: app',
    ...Object.entries({
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': '11111111-2222-3333-4444-555555555555',
      'x-hub-signature-256': signatureOf('never'),
      ...more,
    }).map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n');

const megabyte = Buffer.alloc(1024 * 1024, 'x');

test('refuses an announced body of 100 MB before it is sent', async () => {
  const intake = await startIntake();
  const socket = await dial(intake);
  socket.write(head({ 'content-length': String(100 * megabyte.length) }));
  const [first] = await once(socket, 'data');
  expect(String(first)).toMatch(/^HTTP\/1\.1 413 /);
  expect(String(first)).toMatch(/connection: close/i);
});

describe('a body of 100 MB sent all the same costs less than 50 MB of memory', () => {
  test.each([
    ['announced', { 'content-length': String(100 * megabyte.length) }, [megabyte]],
    ['not announced', { 'transfer-encoding': 'chunked' }, [`${megabyte.length.toString(16)}\r\n`, megabyte, '\r\n']],
  ])('%s', async (_, headers, parts) => {
    const script = join(import.meta.dirname, 'measured-intake.ts');
    const server = endWithTest(spawn(process.execPath, [script], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }));
    const [{ port }] = await once(server, 'message');
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const said = once(socket, 'data').then(([chunk]) => String(chunk));
    const all = Array.from({ length: 100 }, () => parts).flat();
    await pipeline(Readable.from([head(headers), ...all]), socket).catch(() => undefined);
    expect(await said).toMatch(/^HTTP\/1\.1 413 /);
    server.send('report');
    const [{ grown, stored }] = await once(server, 'message');
    expect(stored).toBe(0);
    expect(grown).toBeLessThan(50 * 1024 * 1024);
  });
});

test('refuses a client that expects 100 Continue by its headers alone', async () => {
  const intake = await startIntake();
  const socket = await dial(intake);
  socket.write(head({ 'content-length': '100', expect: '100-continue', 'x-github-event': '!' }));
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
});

test('sends 100 Continue to a valid request', async () => {
  const intake = await startIntake();
  const socket = await dial(intake);
  const body = pushBody();
  socket.write(
    head({ 'content-length': String(body.length), expect: '100-continue', 'x-hub-signature-256': signatureOf(body) }),
  );
  const [goOn] = await once(socket, 'data');
  expect(String(goOn)).toMatch(/^HTTP\/1\.1 100 /);
  socket.write(body);
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 202 /);
});

test.each([
  ['one body byte at a time', head({ 'content-length': '1000' }), 'x'],
  ['one header byte at a time', 'POST / HTTP/1.1\r\nhost: app\r\nx-slow: ', 'x'],
])('disconnects a client that sends %s, but not others', async (_, prefix, byte) => {
  const intake = await startIntake({ timeouts: { headersMs: 300, requestMs: 400, checkIntervalMs: 50 } });
  const socket = await dial(intake);
  socket.write(prefix);
  const drip = setInterval(() => socket.write(byte), 20);
  onTestFinished(() => clearInterval(drip));
  const ended = text(socket).catch(() => '');
  expect((await send(intake.url)).status).toBe(202);
  expect(await ended).toMatch(/^(HTTP\/1\.1 408 |$)/);
  expect(intake.logged).toEqual([]);
});

test('a disconnected client leaves nothing behind', async () => {
  const intake = await startIntake();
  const socket = await dial(intake);
  socket.write(head({ 'content-length': '1000' }) + 'half');
  await pause(50);
  socket.destroy();
  expect((await send(intake.url)).status).toBe(202);
  expect(intake.logged).toEqual([]);
});

test('limits the memory of concurrent requests, and refuses the rest with a retry', async () => {
  const intake = await startIntake({ maxBufferedBytes: megabyte.length });
  const body = Buffer.alloc(700_000, 'x');
  // Each sends all but its last byte, so that its body is held in memory.
  const senders = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const socket = await dial(intake);
      const answered = once(socket, 'data').then(([chunk]) => ({ name, status: String(chunk).slice(9, 12) }));
      socket.write(head({ 'content-length': String(body.length) }));
      socket.write(body.subarray(1));
      return { name, socket, answered };
    }),
  );
  const refused = await Promise.race(senders.map(({ answered }) => answered));
  expect(refused.status).toBe('503');
  const held = senders.find(({ name }) => name !== refused.name);
  held?.socket.write('x');
  // It is read to its end and judged.
  expect((await held?.answered)?.status).toBe('401');
  expect((await send(intake.url)).status).toBe(202);
});
