import { silentLogger } from '../../src/kit/logger.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decideEvent } from '../../app/events/event-decision.ts';
import { handleDelivery } from '../../app/inbox/delivery-worker.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { examplesOf } from '../app/events/examples.ts';
import { openInbox, type TestInbox } from '../app/inbox/inbox.ts';
import { send, startIntake } from '../app/server/intake.ts';
import { startTestPostgres, type TestPostgres } from '../kit/postgres/postgres.ts';
import { randomNumbers, type Random } from './random-numbers.ts';

const cases = Number(process.env['LANDFALL_FUZZ'] ?? 200);
const random = randomNumbers(Number(process.env['LANDFALL_FUZZ_SEED'] ?? 1));

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

const examples = examplesOf('api.github.com');

/** What may stand in the place of any value, as it is written. */
const odd = [
  'null',
  'true',
  '-1',
  '0',
  '-0',
  '1.5',
  '9007199254740993',
  '18446744073709551616',
  '-1e400',
  '1e-400',
  '""',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udc00x"',
  '"7"',
  '"__proto__"',
  '"\u2028"',
  '[]',
  '{}',
  '{"__proto__":{"id":5}}',
  '{"id":"5","\\u0000":1,"toString":1,"constructor":null}',
  JSON.stringify('x'.repeat(300_000)),
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
  JSON.stringify(Array.from({ length: 2_000 }, () => ({ id: 1, full_name: 'a/b' }))),
] as const;

/** The fields that the App looks at are met more often than the hundreds that it passes over. */
const met = new Set(
  'action installation repository id ref before after sender login check_run check_suite number'.split(' '),
);

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A payload with a few of its values exchanged, or left out, wherever they stand. */
function mutated(value: unknown, { below, pick }: Pick<Random, 'below' | 'pick'>, marks: string[]): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => mutated(each, { below, pick }, marks));
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      const chance = below(met.has(key) ? 12 : 150);
      if (chance > 1 || marks.length > 8) return [[key, mutated(inner, { below, pick }, marks)]];
      if (chance === 1 && below(2) === 0) return [];
      marks.push(pick(odd));
      return [[key, `@odd ${marks.length - 1}@`]];
    }),
  );
}

test('no payload is a 5xx or ends its handling, and each is stored once', async () => {
  const { url, logged } = await startIntake({ store: inbox.store });
  const ids = new Set<string>();
  for (let done = 0; done < cases; done += 1) {
    const { name, payload: shown } = random.pick(examples);
    const marks: string[] = [];
    const payload = mutated({ installation: { id: 5 }, ...shown }, random, marks);
    const body = JSON.stringify(payload).replaceAll(/"@odd (\d+)@"/g, (_, index) => marks[Number(index)] ?? '');
    const id = randomUUID();
    ids.add(id);
    const webhook = { id, body, headers: { 'x-github-event': name } };
    const answers = await Promise.all([send(url, webhook), send(url, webhook)]);
    const words = await Promise.all(answers.map((answer) => answer.text()));
    expect({ name, marks, words: words.toSorted() }).toEqual({ name, marks, words: ['known\n', 'stored\n'] });
    const handle = async (event: { name: string; payload: unknown }) => decideEvent(event.name, event.payload);
    const { deliveries, queue } = inbox;
    const log = silentLogger;
    await handleDelivery({ data: { id } }, { queue, deliveries, handle, log, clock: systemClock });
    expect((await deliveries.get(id))?.handledAt).toBeDefined();
  }
  expect(await inbox.rows()).toBe(ids.size);
  expect(logged).toEqual([]);
});
