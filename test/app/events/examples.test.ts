import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { decideEvent } from '../../../app/events/event-decision.ts';
import { formatDecision, handleEvent } from '../../../app/events/handle-event.ts';
import { examplesOf, type Example } from './examples.ts';
import { HandlerFixture, noExaminer } from './handler-fixture.ts';

const golden = z
  .strictObject({ asTheyAre: z.record(z.string(), z.string()), toAnInstallation: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(import.meta.dirname, 'decisions.json'), 'utf8')));

const examples = examplesOf('api.github.com');

/** Many examples were sent to a repository's own webhook: an App's webhooks also name the installation. */
const installed = examples
  .filter(({ payload }) => payload['installation'] === undefined)
  .map((each) => ({ ...each, payload: { ...each.payload, installation: { id: 1 } } }));

const decided = (of: readonly Example[]) =>
  Object.fromEntries(of.map(({ title, name, payload }) => [title, formatDecision(decideEvent(name, payload))]));

describe('every example of a payload has its stated decision', () => {
  test('as it is', () => {
    expect(examples.length).toBeGreaterThanOrEqual(327);
    expect(decided(examples)).toEqual(golden.asTheyAre);
  });

  test('and as an installation of the App receives it', () => {
    expect(decided(installed)).toEqual(golden.toAnInstallation);
  });

  test.each(['ghes-31', 'ghes-32', 'ghes-33', 'ghes-34', 'ghes-35'])('in the edition %s, too', (edition) => {
    const older = examplesOf(edition);
    expect(older.length).toBeGreaterThan(40);
    for (const { name, payload } of older) expect(decideEvent(name, payload).why).toMatch(/^\S.*[^.]$/s);
  });
});

test('each example is handled, and its decision returned', async () => {
  const fixture = new HandlerFixture();
  for (const { title, name, payload } of examples) {
    const decision = await handleEvent({ id: title, name, payload }, fixture.context, noExaminer);
    expect(decision).toMatchObject({ ...decideEvent(name, payload), did: expect.any(Array) });
  }
});
