import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openApiDocument } from '../../../src/control-service/openapi/document.ts';
import type { Operation } from '../../../src/control-service/openapi/operation.ts';
import { operations } from '../../../src/control-service/openapi/operations.ts';
import { openApi } from '../openapi/public-document.ts';
import { openGround, type Ground } from './ground.ts';
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
const isAskedElsewhere = ({ path }: Operation): boolean => /^\/v1\/integrations\/|\/push-token$/.test(path);

describe(`${runs} requests that were thought up, for each operation`, () => {
  let ground: Ground;
  beforeAll(async () => {
    ground = await openGround();
  });
  afterAll(() => ground.close());

  test.each(operations.map((operation) => [`${operation.method.toUpperCase()} ${operation.path}`, operation] as const))(
    '%s answers as documented, fails at none, and leaves nothing half-made',
    async (_, operation) => {
      const statuses = await play(operation, { ground, documents, runs, seed });
      if (isAskedElsewhere(operation)) expect(statuses.get(502)).toBeGreaterThan(0);
      await ground.settled();
      expect(await halfMade(ground.databaseUrl)).toEqual([]);
      if (process.env['LANDFALL_FUZZ']) console.log(operation.id, Object.fromEntries(statuses));
    },
    Math.max(30_000, (runs / 10_000) * 20 * minutes),
  );
});
