import { silentLogger } from '../../../src/kit/logger.ts';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { handleDelivery } from '../../../app/inbox/delivery-worker.ts';
import { decideEvent } from '../../../app/events/event-decision.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres/postgres.ts';
import { openInbox, type TestInbox } from '../inbox/inbox.ts';
import { pushBody, send, signatureOf, startIntake } from './intake.ts';

let postgres: TestPostgres;
let inbox: TestInbox;
beforeAll(async () => {
  postgres = await startTestPostgres();
  inbox = await openInbox(postgres.url);
});
afterAll(async () => {
  await inbox.close();
  await postgres.stop();
});

const commit = 'a'.repeat(40);
const place = { repository: { id: 7, full_name: 'acme/agent' }, installation: { id: 5 }, sender: { login: 'ada' } };
const suite = { head_sha: commit, head_branch: 'main', pull_requests: [] };
const checkRun = { name: 'Landfall', head_sha: commit, external_id: 'x', check_suite: suite, pull_requests: [] };
const pull = { head: { sha: commit, repo: { id: 7 } }, base: { ref: 'main', sha: commit, repo: { id: 7 } } };

/** Of each event that the App reads, a payload with every field that it reads. */
const payloads: Readonly<Record<string, object>> = {
  push: { ...place, ref: 'refs/heads/main', before: commit, after: commit },
  delete: { ...place, ref: 'main', ref_type: 'branch' },
  check_run: { ...place, action: 'requested_action', requested_action: { identifier: 'go' }, check_run: checkRun },
  check_suite: { ...place, action: 'rerequested', check_suite: { ...suite, pull_requests: [{ number: 1, ...pull }] } },
  pull_request: { ...place, action: 'opened', number: 1, pull_request: pull },
  merge_group: { ...place, action: 'checks_requested', merge_group: { head_sha: commit, base_ref: 'refs/heads/main' } },
  installation: { ...place, action: 'created', repositories: [place.repository] },
  installation_repositories: { ...place, action: 'added', repositories_added: [place.repository] },
  repository: { ...place, action: 'renamed' },
};

/** Values that GitHub does not send and JSON can say, as they are written. */
const odd: Readonly<Record<string, string>> = {
  'a NUL': '"a\\u0000b"',
  'half a character': '"a\\ud800"',
  'a long text': JSON.stringify('x'.repeat(100_000)),
  'a fraction': '1.5',
  'a negative number': '-7',
  'a number beyond 64 bits': '18446744073709551616000',
  'a number beyond all numbers': '1e400',
  'a text of a number': '"7"',
  nothing: 'null',
  'a list': '[[[]]]',
  'a map with odd keys': '{"__proto__":{"a":1},"\\u0000":1,"\\udc00":2}',
};

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The payload with each of its fields in turn, however deep, replaced by a mark. */
function* marked(value: unknown): Generator<{ path: string; payload: unknown }> {
  const entries = Array.isArray(value) ? [...value.entries()] : isMap(value) ? Object.entries(value) : [];
  for (const [key, inner] of entries) {
    const replaced = (by: unknown): unknown =>
      Array.isArray(value) ? value.with(Number(key), by) : { ...Object(value), [key]: by };
    yield { path: String(key), payload: replaced('@odd@') };
    for (const each of marked(inner)) yield { path: `${key}.${each.path}`, payload: replaced(each.payload) };
  }
}

describe.each(Object.keys(payloads))('a signed %s', (event) => {
  test.each(Object.keys(odd))('with %s in any field is stored and handled', async (what) => {
    const { url, logged } = await startIntake({ store: inbox.store });
    const log = silentLogger;
    const cases = [...marked({ action: 'none', ...payloads[event] })];
    await Promise.all(
      cases.map(async ({ path, payload }) => {
        const id = randomUUID();
        const body = JSON.stringify(payload).replace('"@odd@"', odd[what] ?? '');
        const answer = await send(url, { id, body, headers: { 'x-github-event': event } });
        expect(`${path}: ${answer.status} ${await answer.text()}`).toBe(`${path}: 202 stored\n`);
        const handle = async ({ name, payload: received }: { name: string; payload: unknown }) =>
          decideEvent(name, received);
        const { deliveries, queue } = inbox;
        await handleDelivery({ data: { id } }, { queue, deliveries, handle, log, clock: systemClock });
        const kept = await deliveries.get(id);
        expect(kept?.payload).toBe(body);
        expect(kept?.handledAt).toBeDefined();
      }),
    );
    expect(logged).toEqual([]);
  });
});

test('ignores a delivery with a field that cannot be stored', () => {
  const decided = [...marked(payloads['push'])]
    .filter(({ path }) => path === 'ref')
    .map(({ payload }) => decideEvent('push', { ...Object(payload), ref: 'refs/heads/a\0b' }));
  expect(decided).toEqual([{ kind: 'ignore', why: expect.stringContaining('ref') }]);
});

describe('odd header bytes and lengths are refused or stored, never a 5xx', () => {
  const values = {
    'a byte above ASCII': '\u00ff',
    'a tab': 'push\tpush',
    'a delete character': 'push\u007f',
    'ten thousand letters': 'a'.repeat(10_000),
    'an empty value': '',
    'spaces alone': '   ',
    'words of SQL': "push'; drop table app.deliveries; --",
    'a name of an object': '__proto__',
    'another name of an object': 'constructor',
  };
  const names = ['x-github-event', 'x-github-delivery', 'x-hub-signature-256', 'content-type', 'content-encoding'];

  test.each(names.flatMap((name) => Object.entries(values).map(([what, value]) => [name, what, value] as const)))(
    '%s with %s',
    async (name, _, value) => {
      const { url, logged } = await startIntake({ store: inbox.store });
      const body = pushBody();
      const headers = {
        'content-type': 'application/json',
        'x-github-event': 'push',
        'x-github-delivery': randomUUID(),
        'x-hub-signature-256': signatureOf(body),
        [name]: value,
      };
      const lines = Object.entries(headers).map(([field, written]) => `${field}: ${written}`);
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname);
      const all = ['POST / HTTP/1.1', 'host: app', 'connection: close', `content-length: ${body.length}`, ...lines];
      // Bytes as they are: a client of HTTP sends no odd ones.
      socket.write(Buffer.from(`${all.join('\r\n')}\r\n\r\n${body}`, 'latin1'));
      const status = Number((await text(socket)).split(' ')[1]);
      expect(status).toBeGreaterThanOrEqual(200);
      expect(status).toBeLessThan(500);
      expect(logged).toEqual([]);
    },
  );
});
