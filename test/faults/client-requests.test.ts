import type { Socket } from 'node:net';
import { Pool, type Dispatcher } from 'undici';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/kit/clock.ts';
import { connectControlService, type ControlServiceSettings } from '../../src/client/control.ts';
import {
  deploymentId,
  deploymentReply,
  quickClock,
  revisionId,
  revisionReply,
  serviceError,
} from '../client/stand-in.ts';
import { chunk, closedPort, head, lastChunk, rawServer, reply, type Answer, type RawServer } from './raw-server.ts';

const good = reply(200, JSON.stringify(revisionReply));
const goodDeployment = reply(200, JSON.stringify(deploymentReply));

/** Connections that come about late. */
class Late extends Pool {
  override dispatch(...request: Parameters<Dispatcher['dispatch']>): boolean {
    setTimeout(() => super.dispatch(...request), 150);
    return true;
  }
}

type Client = ReturnType<typeof connectControlService>;

async function against<T>(
  answer: Answer,
  settings: Partial<ControlServiceSettings>,
  run: (client: Client, server: RawServer) => Promise<T>,
): Promise<T> {
  await using server = await rawServer(answer);
  const client = connectControlService({
    baseUrl: server.url,
    apiKey: 'the-api-key',
    spelling: 'contract',
    userAgent: 'test',
    clock: quickClock(),
    random: () => 0.5,
    ...settings,
  });
  try {
    return await run(client, server);
  } finally {
    await client.close();
  }
}

const getRevision = (client: Client) => client.getRevision(deploymentId, revisionId);
const patch = (client: Client) =>
  client.patchDeployment(deploymentId, { source_revision_config: { repo_ref: 'main' } });

/** A connection can be used again a moment after its answer. */
const rest = () => systemClock.sleep(20);

const silence = (): void => undefined;
const reset = (socket: Socket): void => void socket.resetAndDestroy();
const half = good.slice(0, -20);

/** The fault, the error it causes, and whether a write might have taken effect. */
const faults: [string, Answer, { kind: string; status?: number; effect: 'none' | 'unknown'; words: RegExp }][] = [
  ['a reset', reset, { kind: 'unreachable', effect: 'unknown', words: /closed before a response/ }],
  [
    'a connection that is closed',
    (socket) => socket.end(),
    { kind: 'unreachable', effect: 'unknown', words: /closed before a response/ },
  ],
  ['a half-open connection', silence, { kind: 'unreachable', effect: 'unknown', words: /no response within 0\.5 s/ }],
  [
    'a truncated body',
    (socket) => socket.end(half),
    { kind: 'unreadable', status: 200, effect: 'unknown', words: /ended before it was whole/ },
  ],
  [
    'a body that is cut by a reset',
    (socket) => socket.write(half, () => setTimeout(() => socket.resetAndDestroy(), 10)),
    { kind: 'unreadable', status: 200, effect: 'unknown', words: /ended before it was whole/ },
  ],
  [
    'chunks without a last one',
    (socket) => socket.end(`${head(200, { 'transfer-encoding': 'chunked' })}${chunk('{}').toString()}`),
    { kind: 'unreadable', status: 200, effect: 'unknown', words: /ended before it was whole/ },
  ],
  [
    'a head that never ends',
    (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-type: app'),
    { kind: 'unreachable', effect: 'unknown', words: /no response within/ },
  ],
  [
    'HTML at 200',
    (socket) => socket.write(reply(200, '<!doctype html><title>Sign in</title>', { 'content-type': 'text/html' })),
    { kind: 'unreadable', status: 200, effect: 'unknown', words: /a web page \(text\/html/ },
  ],
  [
    'broken JSON',
    (socket) => socket.write(reply(200, '{"id": "secret-half')),
    { kind: 'unreadable', status: 200, effect: 'unknown', words: /not JSON/ },
  ],
  [
    'nothing where JSON was expected',
    (socket) => socket.write(reply(200, '')),
    { kind: 'unreadable', status: 200, effect: 'unknown', words: /empty/ },
  ],
  [
    'a 500',
    (socket) => socket.write(reply(500, 'oops')),
    { kind: 'busy', status: 500, effect: 'unknown', words: /oops/ },
  ],
  [
    'a 502 with a page',
    (socket) => socket.write(reply(502, '<html><head><title>502 Bad Gateway</title></head></html>')),
    { kind: 'busy', status: 502, effect: 'unknown', words: /502 Bad Gateway/ },
  ],
  [
    'a 503 with Retry-After',
    (socket) => socket.write(reply(503, '{"detail":"maintenance"}', { 'retry-after': '1' })),
    { kind: 'busy', status: 503, effect: 'unknown', words: /maintenance/ },
  ],
  [
    'a 504',
    (socket) => socket.write(reply(504, '')),
    { kind: 'busy', status: 504, effect: 'unknown', words: /answered 504/ },
  ],
  [
    'a head that is cut',
    (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-type: app'),
    { kind: 'unreachable', effect: 'unknown', words: /closed before a response/ },
  ],
  [
    'what is not HTTP',
    (socket) => socket.end('220 mail.example.test ESMTP\r\n'),
    { kind: 'unreadable', effect: 'unknown', words: /not HTTP/ },
  ],
];

// Most of the time is waiting for a deadline.
describe.concurrent.each(faults)('%s', (_, answer, { kind, status, effect, words }) => {
  test('is passed by for a GET that succeeds a moment later', async () => {
    const flaky: Answer = (socket, request, count) => (count < 3 ? answer(socket, request, count) : socket.write(good));
    await against(flaky, { attemptTimeoutMs: 500 }, async (client, server) => {
      expect((await getRevision(client)).status).toBe('BUILDING');
      expect(server.requests).toHaveLength(3);
    });
  });

  test('ends a GET as an error with a kind after the attempts that it has', async () => {
    await against(answer, { attemptTimeoutMs: 500, retry: { attempts: 2 } }, async (client, server) => {
      const error = await serviceError(getRevision(client));
      expect(error).toMatchObject({ kind, status, effect: 'none', operation: 'get revision', method: 'GET' });
      expect(error.message).toMatch(words);
      expect(error.message).toContain('after 2 attempts');
      expect(server.requests).toHaveLength(2);
    });
  });

  test('leaves a PATCH with one request and says whether it may have taken effect', async () => {
    await against(answer, { attemptTimeoutMs: 500 }, async (client, server) => {
      const error = await serviceError(patch(client));
      expect(error).toMatchObject({ kind, status, effect, method: 'PATCH' });
      expect(server.requests).toHaveLength(1);
    });
  });
});

describe('a body that comes a byte at a time', () => {
  const drip: Answer = (socket) => {
    const [start = '', body = ''] = good.split('\r\n\r\n');
    socket.write(`${start}\r\n\r\n`);
    let sent = 0;
    const timer = setInterval(() => {
      socket.write(body.slice(sent, sent + 1));
      sent += 1;
    }, 50);
    socket.on('close', () => clearInterval(timer));
  };

  test('is ended by the deadline of its attempt', async () => {
    await against(drip, { attemptTimeoutMs: 600, retry: { attempts: 1 } }, async (client) => {
      const error = await serviceError(getRevision(client));
      expect(error).toMatchObject({ kind: 'unreachable', status: 200 });
      expect(error.message).toContain('the response was incomplete within 0.6 s');
    });
  });

  test("is ended by the caller's deadline, whatever the attempt may take", async () => {
    await against(drip, { clock: systemClock, attemptTimeoutMs: 600_000 }, async (client) => {
      const error = await serviceError(client.getRevision(deploymentId, revisionId, { deadline: Date.now() + 500 }));
      expect(error.kind).toBe('unreachable');
    });
  });
});

describe('429 with Retry-After', () => {
  const at = (date: string) => new Date(date).toUTCString();

  test.each([
    ['in seconds', '7', 7_000],
    ['as a date', at('2026-11-21T12:00:30Z'), 30_000],
    ['as a date that has passed', at('2026-11-21T11:00:00Z'), 125],
    ['that is no number and no date', 'soon', 125],
  ])('%s is waited for, by a GET and by a PATCH', async (_, retryAfter, waited) => {
    const busyOnce: Answer = (socket, { method }, count) => {
      const answer = method === 'GET' ? good : goodDeployment;
      socket.write(count === 1 ? reply(429, '{"detail":"slow down"}', { 'retry-after': retryAfter }) : answer);
    };
    for (const call of [getRevision, patch]) {
      const clock = quickClock();
      await against(busyOnce, { clock }, async (client, server) => {
        await call(client);
        expect(clock.slept).toEqual([waited]);
        expect(server.requests).toHaveLength(2);
      });
    }
  });

  test.each([
    ['seconds', '86400', '86400 s'],
    ['seconds beyond reason', '99999999999999999999', ' s'],
    ['a date', at('2027-11-21T12:00:00Z'), '31536000 s'],
  ])('that is huge, in %s, fails at once and names the delay', async (_, retryAfter, words) => {
    const clock = quickClock();
    await against(
      (socket) => socket.write(reply(429, '', { 'retry-after': retryAfter })),
      { clock },
      async (client, server) => {
        const error = await serviceError(
          client.getRevision(deploymentId, revisionId, { deadline: clock.now() + 60_000 }),
        );
        expect(error).toMatchObject({ kind: 'busy', status: 429, effect: 'none' });
        expect(error.retryAfterMs).toBeGreaterThanOrEqual(86_400_000);
        expect(error.message).toContain(words);
        expect(error.message).toContain('60 s are left');
        expect(clock.slept).toEqual([]);
        expect(server.requests).toHaveLength(1);
      },
    );
  });
});

describe('a PATCH that was applied and whose answer was lost', () => {
  test('is sent once, and its effect is reported as unknown', async () => {
    let applied = 0;
    const applyAndDrop: Answer = (socket, { method }) => {
      if (method === 'PATCH') applied += 1;
      socket.resetAndDestroy();
    };
    await against(applyAndDrop, {}, async (client) => {
      const error = await serviceError(patch(client));
      expect(error.effect).toBe('unknown');
      expect(error.kind).toBe('unreachable');
      expect(applied).toBe(1);
    });
  });

  test('on a connection that was used before is not sent again either', async () => {
    const dropWrites: Answer = (socket, { method }) => (method === 'GET' ? void socket.write(good) : reset(socket));
    await against(dropWrites, {}, async (client, server) => {
      await getRevision(client);
      await rest();
      await getRevision(client);
      await rest();
      expect((await serviceError(patch(client))).effect).toBe('unknown');
      expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'PATCH']);
      expect(server.connections()).toBe(1);
    });
  });

  test('a POST that makes something is treated alike', async () => {
    await against(reset, {}, async (client, server) => {
      const request = {
        name: 'a',
        source: 'github',
        source_config: {},
        source_revision_config: {},
        secrets: [],
      } as const;
      expect(await serviceError(client.createDeployment({ ...request, secrets: [] }))).toMatchObject({
        effect: 'unknown',
      });
      expect(await serviceError(client.redeployRevision(deploymentId, revisionId))).toMatchObject({
        effect: 'unknown',
      });
      expect(server.requests).toHaveLength(2);
    });
  });
});

describe('a write that surely did not take effect', () => {
  test('is repeated where the connection was refused, and ends with no effect', async () => {
    const clock = quickClock();
    const port = await closedPort();
    await against(silence, { baseUrl: `http://127.0.0.1:${port}`, clock }, async (client) => {
      const error = await serviceError(patch(client));
      expect(error).toMatchObject({ kind: 'unreachable', effect: 'none' });
      expect(error.message).toContain('the connection was refused (ECONNREFUSED); after 5 attempts');
      expect(clock.slept).toEqual([125, 250, 500, 1_000]);
    });
  });

  test.each([400, 401, 403, 404, 409, 422])('is not repeated after a %d', async (status) => {
    await against(
      (socket) => socket.write(reply(status, '{"detail":"no"}')),
      {},
      async (client, server) => {
        expect(await serviceError(patch(client))).toMatchObject({ status, effect: 'none', detail: 'no' });
        expect(server.requests).toHaveLength(1);
      },
    );
  });
});

describe('what only reads', () => {
  test('is repeated though it is a POST', async () => {
    const flaky: Answer = (socket, _, count) =>
      count === 1 ? reset(socket) : void socket.write(reply(200, '{"logs":[]}'));
    await against(flaky, {}, async (client, server) => {
      expect(await client.buildLogs(deploymentId, revisionId, { limit: 10 })).toEqual({ logs: [] });
      expect(server.requests.map(({ method }) => method)).toEqual(['POST', 'POST']);
      expect(server.requests[1]?.body).toBe(server.requests[0]?.body);
    });
  });
});

describe('the end of a call', () => {
  test('comes with the reason of the signal, while it is under way and while it waits', async () => {
    const reason = new Error('cancelled by a person');
    await against(silence, { clock: systemClock }, async (client) => {
      const underWay = client.getRevision(deploymentId, revisionId, { signal: AbortSignal.timeout(30) });
      await expect(underWay).rejects.toThrow('timeout');
      await expect(client.getRevision(deploymentId, revisionId, { signal: AbortSignal.abort(reason) })).rejects.toBe(
        reason,
      );
    });
    await against(
      (socket) => socket.write(reply(503, '', { 'retry-after': '60' })),
      { clock: systemClock },
      async (client) => {
        const stop = new AbortController();
        const waiting = client.getRevision(deploymentId, revisionId, { signal: stop.signal });
        setTimeout(() => stop.abort(reason), 50);
        await expect(waiting).rejects.toBe(reason);
      },
    );
  });

  test('comes before anything is sent where the deadline has passed', async () => {
    await against(silence, {}, async (client, server) => {
      const error = await serviceError(client.getRevision(deploymentId, revisionId, { deadline: 1 }));
      expect(error).toMatchObject({ kind: 'unreachable', effect: 'none' });
      expect(error.message).toContain('deadline had passed');
      expect(server.connections()).toBe(0);
    });
  });

  test('expires while still connecting, and its request is never written', async () => {
    await using server = await rawServer((socket) => socket.write(goodDeployment));
    const late = new Late(server.url);
    await against(
      silence,
      { baseUrl: server.url, dispatcher: late, attemptTimeoutMs: 50, retry: { attempts: 1 } },
      async (client) => {
        const error = await serviceError(patch(client));
        expect(error).toMatchObject({ kind: 'unreachable', effect: 'none' });
        expect(error.message).toContain('no connection within 0.05 s');
        await systemClock.sleep(300);
        expect(server.requests).toEqual([]);
      },
    );
    await late.destroy();
  });

  test('comes with an error of our own where the client was closed', async () => {
    await against(silence, {}, async (client) => {
      const asking = getRevision(client);
      setTimeout(() => void client.close(), 30);
      await expect(asking).rejects.toThrow('the client was closed');
      await expect(getRevision(client)).rejects.toThrow('the client was closed');
    });
  });
});

describe('a body that is too long', () => {
  test.each<[string, Answer]>([
    ['by its own word', (socket) => socket.write(head(200, { 'content-length': '5000000000' }))],
    [
      'as it comes',
      (socket) =>
        socket.write(`${head(200, { 'transfer-encoding': 'chunked' })}${chunk('x'.repeat(3_000)).toString()}`),
    ],
  ])('%s is not read to its end', async (_, answer) => {
    await against(answer, { maxBodyBytes: 2_000 }, async (client, server) => {
      const error = await serviceError(getRevision(client));
      expect(error).toMatchObject({ kind: 'unreadable', status: 200 });
      expect(error.message).toContain('longer than 2000 bytes');
      expect(server.requests).toHaveLength(1);
    });
  });

  test('within the limit is read, however it is cut', async () => {
    const pieces: Answer = (socket) => {
      socket.write(head(200, { 'transfer-encoding': 'chunked' }));
      for (const letter of JSON.stringify(revisionReply)) socket.write(chunk(letter));
      socket.write(lastChunk);
    };
    await against(pieces, {}, async (client) => expect((await getRevision(client)).id).toBe(revisionId));
  });
});

test('early hints before an answer are passed over', async () => {
  const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>\r\n\r\n';
  await against(
    (socket) => socket.write(hints + good),
    {},
    async (client) => {
      expect((await getRevision(client)).id).toBe(revisionId);
    },
  );
});

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])('%d is not followed, and reported without its query', async (status) => {
    await using other = await rawServer((socket) => socket.write(good));
    const location = `${other.url}/moved?token=abc#d`;
    await against(
      (socket) => socket.write(reply(status, '', { location })),
      {},
      async (client, server) => {
        const error = await serviceError(getRevision(client));
        expect(error).toMatchObject({ kind: 'unreadable', status });
        expect(error.message).toContain(`it points to ${other.url}/moved,`);
        expect(error.message).not.toContain('token');
        expect(server.requests).toHaveLength(1);
        expect(other.connections()).toBe(0);
      },
    );
  });
});
