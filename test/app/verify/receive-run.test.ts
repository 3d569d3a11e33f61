import { loggerTo } from '../../logger.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { makeToken, createReceiver } from '../../../app/verify/receive-run.ts';
import { writeProgress } from '../../../app/verify/progress.ts';
import type { Intent } from '../../../app/reconcile/intent.ts';
import { SimulatedClock } from '../../deploy/machine/simulated-clock.ts';
import { anIntent } from '../an-intent.ts';

const { token, hash } = makeToken();
const former = makeToken();
const nothing = {
  verdicts: [],
  attempts: [],
  compared: [],
  currentAttempts: [],
  leftovers: [],
  count: 1,
  notBefore: 0,
  lost: 0,
  withoutWebhook: false,
};
const smoke = writeProgress({
  ...nothing,
  currentAttempts: [{ kind: 'prepared', threadId: randomUUID(), tokenHash: hash }],
  spent: [former.hash],
});
const intent = anIntent('testing', { smoke });

function receiver(known: Intent = intent) {
  const notified: string[] = [];
  const logged: string[] = [];
  const state = { storeIsAway: false };
  const receive = createReceiver({
    store: {
      intent: async (id) => (id === known.id ? known : undefined),
      wake: async (deploymentId) => {
        if (state.storeIsAway) throw new Error('the database is unavailable');
        notified.push(deploymentId);
      },
    },
    clock: new SimulatedClock(),
    log: loggerTo((message, fields) => logged.push(`${message} ${JSON.stringify(fields)}`)),
  });
  return { receive, notified, logged, state };
}

const run = {
  run_id: randomUUID(),
  thread_id: randomUUID(),
  assistant_id: 'a',
  status: 'success',
  kwargs: { webhook: `https://landfall.example.test/runs/x?token=${token}`, input: 'a private question' },
};

describe("an agent's webhook about a run", () => {
  test.each<[sentence: string, body: unknown, noted: string]>([
    ['with error null, as the document has it', { ...run, error: null, values: {} }, 'success, no error'],
    ['without an error, as a public server does', run, 'success, no error'],
    ['with a plain string as error', { ...run, status: 'error', error: 'boom' }, 'error, with an error'],
    [
      'with an error of two parts',
      { ...run, status: 'error', error: { error: 'Boom', message: 'x' } },
      'error, with an error',
    ],
    ['with a newer, unknown status', { ...run, status: 'paused' }, 'an unknown status, no error'],
    ['that is no run at all', ['?'], 'in an unknown format'],
    ['that is no JSON', undefined, 'in an unknown format'],
  ])('%s is accepted, and notifies the queue', async (_sentence, body, noted) => {
    const { receive, notified, logged } = receiver();
    expect(await receive({ intentId: intent.id, token, body: () => body })).toEqual({ status: 204 });
    expect([notified, logged.length]).toEqual([[intent.deploymentId], 1]);
    expect(logged[0]).toContain(noted);
    expect(logged[0]).not.toMatch(new RegExp(`${token}|private|boom`, 'i'));
  });

  test('that is repeated is accepted and changes nothing', async () => {
    const { receive, notified } = receiver();
    const reported = { intentId: intent.id, token, body: () => run };
    expect([await receive(reported), await receive(reported)]).toEqual([{ status: 204 }, { status: 204 }]);
    expect(notified).toHaveLength(1);
  });

  test('about a run that was handled already is accepted, and notifies no queue', async () => {
    const { receive, notified } = receiver();
    expect(await receive({ intentId: intent.id, token: former.token, body: () => run })).toEqual({ status: 204 });
    expect(notified).toEqual([]);
  });

  test('about any run of a series is accepted, and about one that was answered notifies no queue', async () => {
    const runs = [makeToken(), makeToken(), makeToken()];
    const prepared = runs.map((each) => ({ kind: 'prepared' as const, threadId: randomUUID(), tokenHash: each.hash }));
    const answered = { kind: 'answered' as const, evidence: { kind: 'unreachable' as const, why: 'it hangs' } };
    const several = writeProgress({ ...nothing, currentAttempts: [...prepared, answered], spent: [former.hash] });
    const { receive, notified } = receiver(anIntent('testing', { smoke: several }));
    for (const { token: one } of runs) {
      expect(await receive({ intentId: intent.id, token: one, body: () => run })).toEqual({ status: 204 });
    }
    expect(notified).toHaveLength(3);
    expect(await receive({ intentId: intent.id, token: former.token, body: () => run })).toEqual({ status: 204 });
    expect(notified).toHaveLength(3);
  });

  test('about the run of a state that a former version stored is accepted', async () => {
    const under = { kind: 'prepared', threadId: randomUUID(), tokenHash: hash };
    const kept = JSON.stringify({ verdicts: [], attempts: [] });
    const stored = { version: 1, kept, under, leftovers: [], lost: 0, withoutWebhook: false, spent: [] };
    const { receive, notified } = receiver(anIntent('testing', { smoke: stored }));
    expect(await receive({ intentId: intent.id, token, body: () => run })).toEqual({ status: 204 });
    expect(notified).toEqual([intent.deploymentId]);
  });

  test.each<[sentence: string, reported: { intentId: string; token: string }, status: number]>([
    ['with a token of something else', { intentId: intent.id, token: makeToken().token }, 401],
    ['with the hash in the place of the token', { intentId: intent.id, token: hash }, 401],
    ['with an empty token', { intentId: intent.id, token: '' }, 401],
    ['about an intent that is not there', { intentId: randomUUID(), token }, 404],
    ['about what is no intent', { intentId: "' or 1=1", token }, 404],
  ])('%s is not taken', async (_sentence, reported, status) => {
    const { receive, notified } = receiver();
    const body = () => {
      throw new Error('the body of an unauthorized request was read');
    };
    expect(await receive({ ...reported, body })).toEqual({ status });
    expect(notified).toEqual([]);
  });

  test('about an intent without a run is refused', async () => {
    for (const waiting of [
      anIntent('requested'),
      anIntent('testing', { smoke: writeProgress({ ...nothing, spent: [] }) }),
    ]) {
      expect(await receiver(waiting).receive({ intentId: intent.id, token, body: () => run })).toEqual({ status: 401 });
    }
  });

  test('that could not be stored may be repeated', async () => {
    const { receive, notified, state } = receiver();
    state.storeIsAway = true;
    await expect(receive({ intentId: intent.id, token, body: () => run })).rejects.toThrow(
      'the database is unavailable',
    );
    state.storeIsAway = false;
    expect(await receive({ intentId: intent.id, token, body: () => run })).toEqual({ status: 204 });
    expect(notified).toHaveLength(1);
  });
});
