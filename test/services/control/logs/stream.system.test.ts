import { silentLogger } from '../../../../src/kit/logger.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { systemClock, type Clock } from '../../../../src/kit/clock.ts';
import { changeNotifier, hearChanges } from '../../../../src/services/control/logs/change-notifier.ts';
import { createApp } from '../../../../src/services/control/api/app.ts';
import { createControlService } from '../../../../src/services/control/service.ts';
import { parseEvents, type TextEvent } from '../../../../src/kit/sse/parse-events.ts';
import { fromGit, unknownId, openServiceFixture, type ServiceFixture } from '../service-fixture.ts';

const entry = z.object({ id: z.string(), timestamp: z.string(), level: z.string(), message: z.string() });
const ending = z.object({ status: z.string().nullable(), status_message: z.string().nullable() });

describe('a log is streamed as server-sent events', () => {
  let fixture: ServiceFixture;
  let hearing: { close(): Promise<void> };
  const logNotifier = changeNotifier();
  /** Wake those who sleep for long: until a keep-alive, or until the key is checked again. */
  const longSleepers = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) =>
      Promise.race([
        systemClock.sleep(ms, signal),
        new Promise<void>((resolve) => void (ms > 10_000 && longSleepers.add(resolve))),
      ]),
  };
  beforeAll(async () => {
    fixture = await openServiceFixture({ clock, logNotifier });
    fixture.rollouts.fate = 'held';
    hearing = await hearChanges(fixture.databaseUrl, logNotifier, systemClock);
  });
  afterAll(async () => {
    await hearing.close();
    await fixture.close();
  });

  /** A deployment whose revision is starting. */
  async function starting() {
    const { id, latest_revision_id } = await fixture.control.createDeployment(fromGit());
    const revision = latest_revision_id ?? '';
    await fixture.store.claimNextRevision(id);
    await fixture.store.setStatus(revision, ['AWAITING_BUILD'], 'BUILDING');
    await fixture.store.setStatus(revision, ['BUILDING'], 'AWAITING_DEPLOY');
    await fixture.store.setStatus(revision, ['AWAITING_DEPLOY'], 'DEPLOYING');
    return { id, revision };
  }
  const say = (revision: string, ...messages: string[]) =>
    fixture.store.appendLog(
      revision,
      'deploy',
      messages.map((message) => ({ level: 'info', message })),
    );
  const open = (id: string, revision: string, query = '', headers: Record<string, string> = {}) =>
    fetch(`${fixture.baseUrl}/v2/deployments/${id}/revisions/${revision}/logs/stream${query}`, {
      headers: { 'x-api-key': fixture.apiKey, ...headers },
    });
  const eventsOf = (answer: Response): AsyncIterator<TextEvent> => {
    if (!answer.body) throw new Error('the answer has no body');
    return parseEvents(answer.body, { maxEventBytes: 100_000 })[Symbol.asyncIterator]();
  };
  const reported = async (events: AsyncIterator<TextEvent>): Promise<string> => {
    const { done, value } = await events.next();
    if (done === true) return 'over';
    return value.event === 'end'
      ? `end ${ending.parse(JSON.parse(value.data)).status}`
      : entry.parse(JSON.parse(value.data)).message;
  };

  test('sends each line with its id as it is written, until the revision has failed', async () => {
    const { id, revision } = await starting();
    await say(revision, 'first');
    const answer = await open(id, revision);
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
      200,
      'text/event-stream',
      'no-store',
    ]);
    const events = eventsOf(answer);
    const first = await events.next();
    expect(first.value).toMatchObject({ event: 'log', id: entry.parse(JSON.parse(first.value?.data ?? '')).id });
    const second = reported(events);
    await say(revision, 'second', 'third');
    expect([await second, await reported(events)]).toEqual(['second', 'third']);
    const end = reported(events);
    await fixture.store.setStatus(revision, ['DEPLOYING'], 'DEPLOY_FAILED', { message: 'It did not answer.' });
    expect([await end, await reported(events)]).toEqual(['end DEPLOY_FAILED', 'over']);
  });

  test('ends for a key that was revoked meanwhile', async () => {
    const { id, revision } = await starting();
    const made = await fixture.control.createApiKey({ name: 'brief' });
    const key = made.key ?? '';
    await say(revision, 'first');
    const events = eventsOf(await open(id, revision, '', { 'x-api-key': key }));
    expect(await reported(events)).toBe('first');
    await fixture.control.revokeApiKey(made.id);
    const over = reported(events);
    for (const wake of longSleepers) wake();
    expect(await over).toBe('over');
    expect((await open(id, revision, '', { 'x-api-key': key })).status).toBe(401);
  });

  test('the deploy log of the live revision stays open until another one is live', async () => {
    const { id, revision } = await starting();
    const events = eventsOf(await open(id, revision, '?kind=deploy'));
    const first = reported(events);
    await fixture.store.activate(id, revision);
    await say(revision, 'serving');
    expect(await first).toBe('serving');
    const end = reported(events);
    const next = (await fixture.control.createRevision(id, {})).id;
    await fixture.store.claimNextRevision(id);
    await fixture.store.setStatus(next, ['AWAITING_BUILD'], 'BUILDING');
    await fixture.store.setStatus(next, ['BUILDING'], 'AWAITING_DEPLOY');
    await fixture.store.setStatus(next, ['AWAITING_DEPLOY'], 'DEPLOYING');
    await fixture.store.activate(id, next);
    expect(await end).toBe('end DEPLOYED');
  });

  test('ends on a deletion', async () => {
    const { id, revision } = await starting();
    const events = eventsOf(await open(id, revision));
    const end = reported(events);
    await fixture.control.deleteDeployment(id);
    expect(await end).toBe('end INTERRUPTED');
  });

  test('resumes from the last id without gaps or duplicates, with several writers', async () => {
    const { id, revision } = await starting();
    const writers = 4;
    const each = 40;
    const writing = Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        for (let at = 0; at < each; at += 1) await say(revision, `${writer}-${at}`);
      }),
    );
    const seen: string[] = [];
    let last: string | undefined;
    while (seen.length < writers * each) {
      const events = eventsOf(await open(id, revision, '', last === undefined ? {} : { 'Last-Event-ID': last }));
      for (let taken = 0; taken < 23 && seen.length < writers * each; taken += 1) {
        const { value } = await events.next();
        seen.push(entry.parse(JSON.parse(value?.data ?? '')).message);
        last = value?.id;
      }
      await events.return?.();
    }
    await writing;
    const { logs } = await fixture.control.deployLogs(id, revision, { limit: 1_000 });
    expect(seen).toEqual(logs.map(({ message }) => message));
  });

  test('a client that has the complete log gets a 204, which ends reconnecting', async () => {
    const { id, revision } = await starting();
    await say(revision, 'only');
    await fixture.store.setStatus(revision, ['DEPLOYING'], 'DEPLOY_FAILED');
    const events = eventsOf(await open(id, revision));
    const { value } = await events.next();
    expect(await reported(events)).toBe('end DEPLOY_FAILED');
    const again = await open(id, revision, '', { 'Last-Event-ID': value?.id ?? '' });
    expect([again.status, await again.text()]).toEqual([204, '']);
    expect(await reported(eventsOf(await open(id, revision, '', { 'Last-Event-ID': '0' })))).toBe('only');
  });

  test('filters lines by level and by text', async () => {
    const { id, revision } = await starting();
    await fixture.store.appendLog(revision, 'deploy', [
      { level: 'info', message: 'ready' },
      { level: 'error', message: 'no memory' },
      { level: 'error', message: 'ready to fail' },
    ]);
    await fixture.store.setStatus(revision, ['DEPLOYING'], 'DEPLOY_FAILED');
    const all = async (query: string) => {
      const events = eventsOf(await open(id, revision, query));
      return [await reported(events), await reported(events)];
    };
    expect(await all('?level=error&query=ready')).toEqual(['ready to fail', 'end DEPLOY_FAILED']);
    expect(await all('?kind=build')).toEqual(['end DEPLOY_FAILED', 'over']);
  });

  test('a stalled reader blocks no one, and at most a page is read ahead for it', async () => {
    const { id, revision } = await starting();
    const slow = await open(id, revision);
    const events = eventsOf(await open(id, revision));
    const long = 'x'.repeat(8_000);
    for (let round = 0; round < 20; round += 1) {
      await say(revision, ...Array.from({ length: 50 }, (_, at) => `${round * 50 + at} ${long}`));
      for (let at = 0; at < 50; at += 1) expect(await reported(events)).toMatch(`${round * 50 + at} `);
    }
    await slow.body?.cancel();
  });

  test.each([
    ['an unknown kind', '?kind=agent', {}, 422],
    ['an unknown level', '?level=eror', {}, 422],
    ['an invalid cursor', '?offset=a', {}, 422],
    ['an invalid last id', '', { 'Last-Event-ID': 'a' }, 422],
  ])('%s is refused before any event', async (_, query, headers, status) => {
    const { id, revision } = await starting();
    const answer = await open(id, revision, query, headers);
    expect([answer.status, await answer.json()]).toEqual([
      status,
      { detail: [expect.objectContaining({ loc: expect.any(Array) })] },
    ]);
  });

  test('an unknown revision, or another tenant’s, is a 404', async () => {
    const { id } = await starting();
    expect((await open(id, unknownId())).status).toBe(404);
    const foreign = await fixture.stranger.createDeployment(fromGit());
    expect((await open(foreign.id, foreign.latest_revision_id ?? '')).status).toBe(404);
  });

  test('a shutdown ends all streams at once', async () => {
    const { id, revision } = await starting();
    await say(revision, 'first');
    const leaving = new AbortController();
    const { store, rollouts, tenantId } = fixture;
    const app = createApp({
      serviceFor: () =>
        createControlService({ store, rollouts, tenantId, baseUrl: () => '', allowGit: [], logNotifier }),
      findKey: store.findKey,
      fieldNames: 'contract',
      log: silentLogger,
      leaving: leaving.signal,
    });
    const answer = await app.request(`/v2/deployments/${id}/revisions/${revision}/logs/stream`, {
      headers: { 'x-api-key': fixture.apiKey },
    });
    const events = eventsOf(answer);
    expect(await reported(events)).toBe('first');
    const end = reported(events);
    leaving.abort();
    expect(await end).toBe('over');
  });
});
