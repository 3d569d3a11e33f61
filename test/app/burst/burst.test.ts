import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestPostgres } from '../../database/postgres.ts';
import { playBurst, type BurstEnds } from './burst.ts';

/** As `npm run bench -- --only burst` plays it whole. Real builds take their time: here each of them is pushed to once. */
const size = { pushes: 1_000, instant: 45, real: 5, pushesToReal: 1 };

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
}, 400_000);

afterAll(async () => {
  for (const close of atTheEnd.splice(0).reverse()) await close();
});

describe('two copies of the App on one database share 1,000 pushes to 50 deployments', () => {
  test('every webhook is stored once and acknowledged, those that come twice too', () => {
    expect(ends.answers).toEqual({ '202 stored': 1_000, '202 known': 50 });
  });

  test('both copies work', () => {
    expect(ends.handled.reduce((sum, count) => sum + count)).toBe(1_000);
    expect(Math.min(...ends.handled)).toBeGreaterThan(100);
  });

  test('every deployment ends on its newest head', () => {
    expect(ends.deployments).toHaveLength(50);
    expect(ends.deployments.filter(({ isReal }) => isReal)).toHaveLength(5);
    expect(ends.deployments.filter(({ head, live }) => live !== head)).toEqual([]);
  });

  test('no commit is built twice, and no cause has two revisions', () => {
    expect(ends.deployments.filter(({ commits }) => new Set(commits).size < commits.length)).toEqual([]);
    expect(ends.doubledRevisions).toEqual([]);
  });

  test('every pushed commit has one check, and none stays open', () => {
    expect(ends.checks).toBe(1_000);
    expect(ends.doubledChecks).toEqual([]);
    expect(ends.openChecks).toEqual([]);
  });

  test('every commit is live or is told as contained in one that came instead', () => {
    expect(ends.conclusions['success']).toBeGreaterThanOrEqual(50);
    expect(Object.keys(ends.conclusions).filter((each) => each !== 'success' && each !== 'neutral')).toEqual([]);
  });
});
