import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApiDocument } from '../../../src/control-service/openapi/document.ts';
import type { Operation } from '../../../src/control-service/openapi/operation.ts';
import { operations } from '../../../src/control-service/openapi/operations.ts';
import { openApi } from '../../openapi/shape.ts';
import { openFuzzFixture, type FuzzFixture } from './fixture.ts';
import { play } from './play.ts';
import { halfMade } from './wholeness.ts';

/** Requests for each operation; `LANDFALL_FUZZ=10000` asks for as many as a whole round has. */
const runs = Number(process.env['LANDFALL_FUZZ'] ?? 40);
/** The same requests each time, so that what fails once fails again; `LANDFALL_FUZZ_SEED` asks for others. */
const seed = Number(process.env['LANDFALL_FUZZ_SEED'] ?? 1);
const documents = {
  contract: openApi.parse(openApiDocument('contract')),
  public: openApi.parse(openApiDocument('public')),
};
const minutes = 60_000;

/** Whether GitHub or the image registry has to answer for it: on this ground they do not always. */
const usesOtherServices = ({ path }: Operation): boolean => /^\/v1\/integrations\/|\/push-token$/.test(path);

/** As many grounds, on each of which a part of the operations is played: an answer is mostly waited for. */
const grounds = 4;
const parts = Array.from({ length: grounds }, (_, part) => operations.filter((__, at) => at % grounds === part));

describe.concurrent.each(parts.map((part, at) => [at + 1, part] as const))(
  `${runs} requests that were thought up, for each operation: part %i`,
  (_, part) => {
    let fixture: FuzzFixture;
    beforeAll(async () => {
      fixture = await openFuzzFixture();
    });
    afterAll(() => fixture.close());

    // One after the other: what one leaves is what the next ones find.
    test.each(part.map((operation) => [`${operation.method.toUpperCase()} ${operation.path}`, operation] as const))(
      '%s answers as documented, fails at none, and leaves nothing half-made',
      { concurrent: false, timeout: Math.max(minutes, (runs / 10_000) * 60 * minutes) },
      async (__, operation) => {
        const statuses = await play(operation, { fixture, documents, runs, seed });
        expect(statuses.has(502)).toBe(usesOtherServices(operation));
        await fixture.settled();
        expect(await halfMade(fixture.databaseUrl)).toEqual([]);
        if (process.env['LANDFALL_FUZZ']) console.log(operation.id, Object.fromEntries(statuses));
      },
    );
  },
);
