import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { everyRow } from '../every-row.ts';
import { bodies, requests } from './requests.ts';
import type { Sent } from './requests.ts';
import { canaryOf, imagined, openTwoTenants } from './two-tenants.ts';
import type { Belongings, TwoTenants } from './two-tenants.ts';

let service: TwoTenants;
let nowhere: Belongings;
beforeAll(async () => {
  service = await openTwoTenants();
  nowhere = imagined(service.owner);
  // The first request with a key records its use; later ones are all alike.
  for (const key of [asOwner(), asStranger()]) await send('GET', { path: '/v2/listeners' }, key);
});
afterAll(() => service.close());

const rows = () => everyRow(service.databaseUrl, ['last_used_at']);

interface Reported {
  status: number;
  headers: Record<string, string>;
  text: string;
}

async function send(
  method: string,
  { path, body, headers = {} }: Sent,
  credentials: Record<string, string>,
): Promise<Reported> {
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: { ...credentials, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const reported = Object.fromEntries([...answer.headers].filter(([name]) => name !== 'date'));
  return { status: answer.status, headers: reported, text: await answer.text() };
}

const asOwner = () => ({ 'x-api-key': service.owner.apiKey });
const asStranger = () => ({ 'x-api-key': service.stranger.apiKey });

/** A response with every id of `ids` replaced by its name, so that two responses can be compared. */
function named({ text, headers, ...rest }: Reported, ids: Belongings): Reported {
  const words = Object.entries(ids).filter(([, id]) => id !== '');
  const plain = words.reduce((sofar, [what, id]) => sofar.replaceAll(id, `<${what}>`), text);
  return { ...rest, headers: { ...headers, 'content-length': '' }, text: plain };
}

/** The responses to the stranger for the owner's ids and for unknown ids, and the number of statements for each. */
async function reported(method: string, ask: (ids: Belongings) => Sent) {
  const of = async (ids: Belongings) => {
    let answer: Reported | undefined;
    const statements = await service.statementsOf(async () => {
      answer = await send(method, ask(ids), asStranger());
    });
    if (!answer) throw new Error('nothing was answered');
    return { answer, reported: named(answer, ids), statements };
  };
  return { there: await of(service.owner), nowhere: await of(nowhere) };
}

const routes = () => service.app.routes.map(({ method, path }) => ({ method, path, name: `${method} ${path}` }));
/** Skips wildcard routes, the catch-all routes that respond to unsupported methods, and the page of the console. */
const isRequested = ({ method, path }: { method: string; path: string }): boolean =>
  method !== 'ALL' && !path.includes('*') && path !== '/' && path !== '/console';

test('every route of the service has a row, and every row a route', () => {
  expect(Object.keys(requests).sort()).toEqual(
    [
      ...new Set(
        routes()
          .filter(isRequested)
          .map(({ name }) => name),
      ),
    ].sort(),
  );
});

const split = (name: string): [method: string, path: string] => {
  const [method = '', path = ''] = name.split(' ');
  return [method, path];
};
const closed = Object.entries(requests).flatMap(([name, row]) =>
  'open' in row ? [] : [{ name, method: split(name)[0], ask: 'of' in row ? row.of : row.own, row }],
);

describe("another tenant's", () => {
  test.each(closed.filter(({ row }) => 'of' in row))('$name looks as if it did not exist', async ({ method, ask }) => {
    const before = await rows();
    const { there, nowhere: other } = await reported(method, ask);
    expect(there.answer.status).toBe(404);
    expect(there.reported).toEqual(other.reported);
    expect(there.statements).toBe(other.statements);
    expect(await rows()).toEqual(before);
  });

  test.each(closed.filter(({ row, method }) => 'own' in row && method === 'GET'))(
    '$name shows nothing of the owner',
    async ({ method, ask, row: { done } }) => {
      const { status, text } = await send(method, ask(service.stranger), asStranger());
      expect(status).toBe(done);
      const { apiKey: _, ...ids } = service.owner;
      for (const word of [...Object.values(ids), 'owner', canaryOf('owner')]) expect(text).not.toContain(word);
    },
  );

  test.each(bodies)('%s looks as if it did not exist', async (_what, method, ask) => {
    const before = await rows();
    const { there, nowhere: other } = await reported(method, (of) => ask(service.stranger, of));
    expect(there.reported).toEqual(other.reported);
    expect(there.statements).toBe(other.statements);
    expect(there.answer.text).not.toContain(canaryOf('owner'));
    expect(await rows()).toEqual(before);
  });

  test('a stranger cannot delete deployments of the owner', async () => {
    const before = await rows();
    const path = `/v2/deployments?deployment_ids=${service.owner.deployment},${service.owner.uploading}`;
    expect((await send('DELETE', { path }, asStranger())).status).toBe(404);
    expect(await rows()).toEqual(before);
  });

  test('an unsupported method is reported before the ids in the path are read', async () => {
    for (const { path } of routes().filter(({ method, path: named }) => method === 'ALL' && !named.includes('*'))) {
      const filled = (ids: Belongings): string =>
        path
          .replace(':revision', ids.revision)
          .replace(':claim', ids.claim)
          .replace(':deployment', ids.deployment)
          .replace(':name', 'a.tar.gz')
          .replace(':id', path.includes('listeners') ? ids.listener : ids.deployment);
      const answers = await Promise.all(
        [service.owner, nowhere].map((ids) => send('LOCK', { path: filled(ids) }, asStranger())),
      );
      expect(answers.map(({ status }) => status)).toEqual([405, 405]);
      expect(answers[0]).toEqual(answers[1]);
    }
  });
});

describe('without a key of the tenant', () => {
  const entryPoints: readonly (readonly [who: string, credentials: () => Record<string, string>, status: number])[] = [
    ['with no key', () => ({}), 401],
    ['with a key that was revoked', () => ({ 'x-api-key': service.revokedKey }), 401],
    ['with a revoked key as a token', () => ({ authorization: `Bearer ${service.revokedKey}` }), 401],
    ["with the tenant's id alone", () => ({ 'x-tenant-id': service.owner.tenant }), 401],
    [
      "with another's key and the tenant's id",
      () => ({ 'x-api-key': service.stranger.apiKey, 'x-tenant-id': service.owner.tenant }),
      403,
    ],
  ];
  test.each(entryPoints)(
    'every route refuses a request %s, before it reads anything',
    async (_who, credentials, status) => {
      const before = await rows();
      await Promise.all(
        closed.map(async ({ method, ask }) => {
          const [one, other] = [service.owner, nowhere].map((ids) => send(method, ask(ids), credentials()));
          expect([(await one)?.status, await one]).toEqual([status, await other]);
        }),
      );
      expect(await rows()).toEqual(before);
    },
  );
});

describe('an agent', () => {
  const paths = ['/ok', '', '/', '/threads/search', '/runs/stream', '/threads/t/runs/r/stream?stream_mode=values'];
  const agent = (ids: Belongings, path: string): Sent => ({ path: `/agents/${ids.deployment}${path}` });

  test('responds to its owner, with streams too', async () => {
    const { status, headers, text } = await send('POST', agent(service.owner, '/runs/stream'), asOwner());
    expect([status, headers['content-type'], text]).toEqual([
      200,
      'text/event-stream',
      expect.stringContaining(canaryOf('owner')),
    ]);
    expect(service.requested.at(-1)).toBe('owner POST /runs/stream');
  });

  test.each(['GET', 'POST', 'DELETE', 'OPTIONS'])(
    'of another tenant looks as if it did not exist, by %s',
    async (method) => {
      const before = service.requested.length;
      for (const path of paths) {
        const { there, nowhere: other } = await reported(method, (ids) => agent(ids, path));
        expect(there.answer.status).toBe(404);
        expect([there.reported, there.statements]).toEqual([other.reported, other.statements]);
      }
      expect(service.requested).toHaveLength(before);
    },
  );

  test.each([
    ['by dots', (own: Belongings, of: Belongings) => `/agents/${own.deployment}/../${of.deployment}/ok`],
    ['by hidden dots', (own: Belongings, of: Belongings) => `/agents/${own.deployment}/%2e%2e/${of.deployment}/ok`],
    ['by hidden slashes', (own: Belongings, of: Belongings) => `/agents/${own.deployment}%2f..%2f${of.deployment}/ok`],
    ['by capitals', (_own: Belongings, of: Belongings) => `/agents/${of.deployment.toUpperCase()}/ok`],
    ['by two slashes', (_own: Belongings, of: Belongings) => `//agents/${of.deployment}/ok`],
    ['by a whole address', (_own: Belongings, of: Belongings) => `http://x/agents/${of.deployment}/ok`],
  ])('of another tenant is not reached %s', async (_how, path) => {
    const before = service.requested.filter((line) => line.startsWith('owner')).length;
    const { status, text } = await raw(path(service.stranger, service.owner));
    expect(status).not.toBe(200);
    expect(text).not.toContain(canaryOf('owner'));
    expect(service.requested.filter((line) => line.startsWith('owner'))).toHaveLength(before);
  });

  test('receives no requests without a key of its tenant', async () => {
    const before = service.requested.length;
    for (const [credentials, status] of [
      [{}, 401],
      [{ 'x-api-key': service.revokedKey }, 401],
      [{ 'x-api-key': service.stranger.apiKey, 'x-tenant-id': service.owner.tenant }, 403],
    ] as const) {
      for (const path of paths) {
        const one = await send('POST', agent(service.owner, path), credentials);
        expect([one.status, one]).toEqual([status, await send('POST', agent(nowhere, path), credentials)]);
      }
    }
    expect(service.requested).toHaveLength(before);
  });

  /** Sends a target as written; `fetch` would normalize it. */
  async function raw(target: string): Promise<{ status: number; text: string }> {
    const { hostname, port } = new URL(service.url);
    const sent = request({ hostname, port, path: target, headers: asStranger() });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      sent.on('response', resolve).on('error', reject);
    });
    sent.end();
    const answer = await answered;
    return { status: answer.statusCode ?? 0, text: await readText(answer) };
  }
});

// Last: the owner succeeds with the same requests, which proves that they are valid.
describe('its owner', () => {
  test.each(closed)('gets a response from $name, and only one write per key', async ({ name, method, ask, row }) => {
    const key = { ...asOwner(), 'idempotency-key': `key of ${name}`.replaceAll(' ', '-') };
    const first = await send(method, ask(service.owner), key);
    expect([first.status, first.text]).toEqual([row.done, first.text]);
    if (row.once !== true || first.status >= 400) return;
    const before = await rows();
    const again = await send(method, ask(service.owner), key);
    expect([again.status, again.headers['content-type']]).toEqual([first.status, first.headers['content-type']]);
    expect(await rows()).toEqual(before);
    if (!('of' in row)) return;
    const other = await send(method, ask(service.stranger), key);
    expect([404, 422]).toContain(other.status);
  });

  test('leaves no secret in the log of the service', () => {
    expect(service.logged.join('\n')).not.toContain('canary');
  });
});
