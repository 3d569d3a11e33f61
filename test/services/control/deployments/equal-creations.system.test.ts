import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServiceError } from '../../../../src/contract/service-error.ts';
import { everyRow } from '../every-row.ts';
import { fromGit, openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

const twenty = (make: (number: number) => Promise<unknown>) =>
  Promise.allSettled(Array.from({ length: 20 }, (_, number) => make(number)));

/** How many calls succeeded, and the statuses and messages of the others. */
function reported(ends: readonly PromiseSettledResult<unknown>[]) {
  const refused = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
  const words = refused.map((reason) =>
    reason instanceof ServiceError ? `${reason.status} ${reason.detail}` : String(reason),
  );
  return { made: ends.length - refused.length, words };
}

describe('concurrent creations of one name, over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
    fixture.rollouts.fate = 'held';
  });
  afterAll(() => fixture.close());

  /** How many rows of each table contain a name, or the id of its deployment. */
  async function rowsOf(name: string) {
    const rows = await everyRow(fixture.databaseUrl);
    const holding = (table: string, word: string) => (rows[table] ?? []).filter((row) => row.includes(word)).length;
    const [deployment] = (await fixture.control.listDeployments({ name })).resources;
    const id = deployment?.id ?? randomUUID();
    return {
      deployments: holding('control.deployments', `"${name}"`),
      projects: holding('control.tracing_projects', `"${name}"`),
      revisions: holding('control.revisions', id),
      records: holding('control.audit', `"${name}"`),
    };
  }

  test('one of twenty makes a deployment, the others get a clear conflict', async () => {
    const request = fromGit();
    const { made, words } = reported(await twenty(() => fixture.control.createDeployment(request)));
    expect([made, words.length]).toEqual([1, 19]);
    for (const sentence of words) {
      expect(sentence).toMatch(/^409 A deployment named .* exists already\. Choose another name/);
    }
    expect(await rowsOf(request.name)).toEqual({ deployments: 1, projects: 1, revisions: 1, records: 1 });
  });

  test('the same with a key each, and refused ones keep no key', async () => {
    const request = fromGit();
    const before = (await everyRow(fixture.databaseUrl))['control.write_keys']?.length ?? 0;
    const ends = await twenty(() => fixture.control.createDeployment(request, { idempotencyKey: randomUUID() }));
    expect(reported(ends).made).toBe(1);
    expect((await everyRow(fixture.databaseUrl))['control.write_keys']).toHaveLength(before + 1);
    expect(await rowsOf(request.name)).toEqual({ deployments: 1, projects: 1, revisions: 1, records: 1 });
  });

  test('all twenty fail if a tracing project has the name, and leave nothing', async () => {
    const request = fromGit();
    await fixture.store.addTracingProject(fixture.tenantId, request.name);
    const { made, words } = reported(await twenty(() => fixture.control.createDeployment(request)));
    expect([made, words.length]).toEqual([0, 20]);
    for (const sentence of words) expect(sentence).toMatch(/^409 A tracing project named .* exists already/);
    expect(await rowsOf(request.name)).toEqual({ deployments: 0, projects: 1, revisions: 0, records: 0 });
  });

  test('one of twenty creations and a project of that name wins, without a 5xx', async () => {
    const request = fromGit();
    const ends = await twenty((number) =>
      number === 10
        ? fixture.store.addTracingProject(fixture.tenantId, request.name).catch(() => undefined)
        : fixture.control.createDeployment(request),
    );
    for (const sentence of reported(ends).words) expect(sentence).toMatch(/^409 /);
    const { deployments, projects, revisions } = await rowsOf(request.name);
    expect([projects, deployments === revisions]).toEqual([1, true]);
  });

  test('two tenants do not conflict', async () => {
    const request = fromGit();
    const ends = await twenty((number) =>
      (number % 2 === 0 ? fixture.control : fixture.stranger).createDeployment(request),
    );
    expect(reported(ends)).toMatchObject({ made: 2, words: { length: 18 } });
  });

  test('twenty of different names all succeed', async () => {
    expect(reported(await twenty(() => fixture.control.createDeployment(fromGit())))).toEqual({ made: 20, words: [] });
  });
});
