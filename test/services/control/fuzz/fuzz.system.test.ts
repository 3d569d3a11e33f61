import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApiDocument } from '../../../../src/services/control/api/document.ts';
import type { OperationDescription } from '../../../../src/kit/http/operation.ts';
import { operations } from '../../../../src/services/control/api/operations.ts';
import { openApi } from '../../../kit/http/shape.ts';
import { openFuzzFixture, type FuzzFixture } from './fixture.ts';
import { play } from './play.ts';
import { halfMade } from './integrity.ts';

/** Requests per operation; a full run sets `LANDFALL_FUZZ=10000`. */
const runs = Number(process.env['LANDFALL_FUZZ'] ?? 40);
/** A fixed seed makes failures reproducible; `LANDFALL_FUZZ_SEED` overrides it. */
const seed = Number(process.env['LANDFALL_FUZZ_SEED'] ?? 1);
const documents = {
  contract: openApi.parse(openApiDocument('contract')),
  public: openApi.parse(openApiDocument('public')),
};
const minutes = 60_000;

/** Whether the operation depends on GitHub or the image registry, which fail at times in this fixture. */
const usesOtherServices = ({ path }: OperationDescription): boolean => /^\/v1\/integrations\/|\/push-token$/.test(path);

/** The number of services that share the operations: requests mostly wait, so several run at once. */
const fixtures = 4;
const parts = Array.from({ length: fixtures }, (_, part) => operations.filter((__, at) => at % fixtures === part));

describe.concurrent.each(parts.map((part, at) => [at + 1, part] as const))(
  `${runs} random requests per operation: part %i`,
  (_, part) => {
    let fixture: FuzzFixture;
    beforeAll(async () => {
      fixture = await openFuzzFixture();
    });
    afterAll(() => fixture.close());

    // Sequential, because each test works on what the previous ones left.
    test.each(part.map((operation) => [`${operation.method.toUpperCase()} ${operation.path}`, operation] as const))(
      '%s responds as documented',
      { concurrent: false, timeout: Math.max(10 * minutes, (runs / 10_000) * 60 * minutes) },
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
