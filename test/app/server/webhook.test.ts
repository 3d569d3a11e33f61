import { Webhooks } from '@octokit/webhooks';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { StorageError } from '../../../app/inbox/store-deliveries.ts';
import { verifySignature } from '../../../app/server/webhook-route.ts';
import { pushBody, secret, send, signatureOf, startIntake } from './intake.ts';

describe('a signed webhook', () => {
  test.each(['/', '/api/github/webhooks', '/?source=github'])('is stored and answered 202 at %s', async (path) => {
    const { url, stored } = await startIntake();
    const id = randomUUID();
    const body = pushBody({ action: 'created', text: 'ünï – 🚀 \u0000' });
    const answer = await send(url, { id: id.toUpperCase(), body, path });
    expect(answer.status).toBe(202);
    expect(await answer.text()).toBe('stored\n');
    expect(stored).toEqual([
      {
        id,
        event: 'push',
        action: 'created',
        installationId: 5,
        repositoryId: 7,
        payload: body,
        receivedAt: expect.any(Number),
      },
    ]);
  });

  test('that is redelivered gets a 202, too', async () => {
    const { url, stored } = await startIntake();
    const id = randomUUID();
    expect((await send(url, { id })).status).toBe(202);
    const again = await send(url, { id });
    expect([again.status, await again.text()]).toEqual([202, 'known\n']);
    expect(stored).toHaveLength(1);
  });

  test('of 24 MB is accepted', async () => {
    const { url, stored } = await startIntake();
    const body = pushBody({ text: 'x'.repeat(24 * 1024 * 1024) });
    expect((await send(url, { body })).status).toBe(202);
    expect(stored[0]?.payload.length).toBe(body.length);
  });

  test('with few fields is stored with those it has', async () => {
    const { url, stored } = await startIntake();
    const body = JSON.stringify({ action: 7, installation: 'none', repository: { id: 1.5 } });
    expect((await send(url, { body })).status).toBe(202);
    expect(stored[0]).toMatchObject({ action: undefined, installationId: undefined, repositoryId: undefined });
  });

  test.each([['the one of now'], ['the former one']])('with %s of two secrets is taken', async (which) => {
    const former = 'the-secret-of-last-month';
    const { url } = await startIntake({
      verify: verifySignature([new Webhooks({ secret }), new Webhooks({ secret: former })]),
    });
    const key = which === 'the former one' ? former : secret;
    const headers = { 'x-hub-signature-256': signatureOf(pushBody(), key) };
    expect((await send(url, { headers })).status).toBe(202);
  });
});

describe('refuses, without storing or parsing,', () => {
  const right = signatureOf(pushBody());
  const flipped = Buffer.from(pushBody());
  flipped[10] = (flipped[10] ?? 0) ^ 1;
  const noText = Buffer.from(pushBody());
  noText[10] = 0xff;
  const guid = randomUUID();

  test.each<[string, number, Parameters<typeof send>[1]]>([
    ['one with a forged signature', 401, { headers: { 'x-hub-signature-256': signatureOf(pushBody(), 'another') } }],
    ['one without a signature', 401, { headers: { 'x-hub-signature-256': undefined } }],
    [
      'one with the old signature only',
      401,
      { headers: { 'x-hub-signature-256': undefined, 'x-hub-signature': right } },
    ],
    ['one with an empty signature', 401, { headers: { 'x-hub-signature-256': '' } }],
    ['one with a short signature', 401, { headers: { 'x-hub-signature-256': right.slice(0, -1) } }],
    ['one with a long signature', 401, { headers: { 'x-hub-signature-256': `${right}0` } }],
    [
      'one with a signature that is not hexadecimal',
      401,
      { headers: { 'x-hub-signature-256': `${right.slice(0, -1)}g` } },
    ],
    ['one with a signature in capitals', 401, { headers: { 'x-hub-signature-256': right.toUpperCase() } }],
    ['one with two signatures', 401, { headers: { 'x-hub-signature-256': `${right}, ${right}` } }],
    ['one with a flipped bit', 401, { body: flipped, headers: { 'x-hub-signature-256': right } }],
    ['one with a byte that is no text', 401, { body: noText }],
    ['one with a byte more', 401, { body: `${pushBody()} `, headers: { 'x-hub-signature-256': right } }],
    ['one without a body', 401, { body: '' }],
    ['a form', 415, { headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
    ['one without a content type', 415, { headers: { 'content-type': undefined } }],
    ['one in another alphabet', 415, { headers: { 'content-type': 'application/json; charset=utf-16' } }],
    ['one that is packed', 415, { headers: { 'content-encoding': 'gzip' } }],
    ['one without an event', 400, { headers: { 'x-github-event': undefined } }],
    ['one with an event that is no name', 400, { headers: { 'x-github-event': '../push' } }],
    ['one without a GUID', 400, { headers: { 'x-github-delivery': undefined } }],
    ['one with a GUID that is none', 400, { id: `${guid}0` }],
    ['one with two GUIDs', 400, { id: `${guid}, ${guid}` }],
    ['a signed one that is no JSON', 400, { body: '{"ref":' }],
    ['a signed one that is a list', 400, { body: '[]' }],
    ['a signed one that is a word', 400, { body: '"push"' }],
  ])('%s: %i', async (_, status, webhook) => {
    const { url, stored } = await startIntake();
    const answer = await send(url, webhook);
    expect(answer.status).toBe(status);
    expect(await answer.text()).toMatch(/\.\n$/);
    expect(stored).toEqual([]);
  });
});

test('a response contains neither secret nor signature', async () => {
  const { url, logged } = await startIntake();
  const answer = await send(url, { headers: { 'x-hub-signature-256': signatureOf('other') } });
  const said = (await answer.text()) + logged.join('');
  expect(said).not.toContain(secret);
  expect(said).not.toContain(signatureOf(pushBody()));
});

test('accepts JSON with a charset', async () => {
  const { url } = await startIntake();
  const headers = { 'content-type': 'application/json; charset=UTF-8' };
  expect((await send(url, { headers })).status).toBe(202);
});

describe('a webhook that cannot be stored', () => {
  test('gets a 503 with Retry-After, and is logged', async () => {
    const { url, logged } = await startIntake({
      store: async () => {
        throw new StorageError('the disk of the database is full');
      },
    });
    const answer = await send(url);
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('10');
    expect(await answer.text()).toBe('The webhook could not be stored: the disk of the database is full.\n');
    expect(logged).toEqual([expect.stringContaining('the disk of the database is full')]);
  });

  test('because of an internal error gets a 500, and the stack is logged', async () => {
    const { url, logged } = await startIntake({
      store: async () => {
        throw new TypeError('cannot read this');
      },
    });
    const answer = await send(url);
    expect([answer.status, await answer.text()]).toEqual([500, 'Something went wrong here.\n']);
    expect(logged[0]).toMatch(/TypeError: cannot read this\n\s+at /);
  });
});

test('counts the result before the response', async () => {
  const counted: string[] = [];
  let steps = 0;
  const { url } = await startIntake({
    count: (event, result) => counted.push(`${event} ${result}`),
    onStored: () => void (steps += 1),
  });
  const id = randomUUID();
  await send(url, { id });
  await send(url, { id });
  await send(url, { headers: { 'x-hub-signature-256': 'none' } });
  expect(counted).toEqual(['push stored', 'push known', 'undefined refused']);
  expect(steps).toBe(1);
});
