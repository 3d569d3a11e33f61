import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestPostgres } from '../../kit/postgres/postgres.ts';
import { playBurst, type BurstEnds } from './burst.ts';

/**
 * A tenth of the burst, with one deployment that is really built and pushed to once, so that it ends in good time.
 * `npm run bench -- --only burst` plays all of it: 1,000 pushes to 50 deployments, of which 5 are really built.
 */
const size = { pushes: 100, instant: 9, real: 1, pushesToReal: 1 };
const deployments = size.instant + size.real;

let ends: BurstEnds;
const atTheEnd: (() => void | Promise<void>)[] = [];

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'landfall-burst-'));
  chmodSync(folder, 0o711);
  atTheEnd.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const [app, service] = [await startTestPostgres(), await startTestPostgres()];
  atTheEnd.push(
    () => app.stop(),
    () => service.stop(),
  );
  ends = await playBurst({ folder, appDatabaseUrl: app.url, serviceDatabaseUrl: service.url }, size);
});

afterAll(async () => {
  for (const close of atTheEnd.splice(0).reverse()) await close();
});

describe('two copies of the App on one database share 100 pushes to 10 deployments', () => {
  test('stores and acknowledges every webhook once, repeated ones too', () => {
    expect(ends.answers).toEqual({ '202 stored': size.pushes, '202 known': 5 });
  });

  test('both copies work', () => {
    expect(ends.handled.reduce((sum, count) => sum + count)).toBe(size.pushes);
    expect(Math.min(...ends.handled)).toBeGreaterThan(size.pushes / 10);
  });

  test('every deployment ends on its newest head', () => {
    expect(ends.deployments).toHaveLength(deployments);
    expect(ends.deployments.filter(({ isReal }) => isReal)).toHaveLength(size.real);
    expect(ends.deployments.filter(({ head, live }) => live !== head)).toEqual([]);
  });

  test('no commit is built twice, and no cause has two revisions', () => {
    expect(ends.deployments.filter(({ commits }) => new Set(commits).size < commits.length)).toEqual([]);
    expect(ends.doubledRevisions).toEqual([]);
  });

  test('every pushed commit has one check, and none stays open', () => {
    expect(ends.checks).toBe(size.pushes);
    expect(ends.doubledChecks).toEqual([]);
    expect(ends.openChecks).toEqual([]);
  });

  test('reports every commit as live, or as live in its successor', () => {
    expect(ends.conclusions).toEqual({ success: size.pushes });
  });
});
