import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromGit, refusalOf, openServiceFixture } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

const restate = { source_revision_config: { repo_ref: 'main' } };

describe('a write with an idempotency key, over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
  });
  afterAll(() => fixture.close());

  async function made() {
    const { id, latest_revision_id } = await fixture.control.createDeployment(fromGit());
    await fixture.rollouts.settled();
    return { id, first: latest_revision_id ?? '' };
  }
  const revisionsOf = async (id: string): Promise<string[]> =>
    (await fixture.control.listRevisions(id, { limit: 100 })).resources.map((revision) => revision.id);

  test('the service announces its support', async () => {
    expect(await fixture.control.features()).toEqual({
      idempotencyKeys: true,
      verdicts: true,
      baselines: true,
      holds: false,
      pinsCommits: true,
      copiesBuilds: true,
      scalesToZero: true,
    });
  });

  test('a repeated change makes no second revision, and gets the same response', async () => {
    const { id, first } = await made();
    const idempotencyKey = randomUUID();
    const answer = await fixture.control.patchDeployment(id, restate, { idempotencyKey });
    const again = await fixture.control.patchDeployment(id, restate, { idempotencyKey });
    expect(again).toMatchObject({
      id,
      latest_revision_id: answer.latest_revision_id,
      source_revision_config: { repo_ref: 'main' },
    });
    expect(await revisionsOf(id)).toEqual([answer.latest_revision_id, first]);
    const other = await fixture.control.patchDeployment(id, restate, { idempotencyKey: randomUUID() });
    expect(other.latest_revision_id).not.toBe(answer.latest_revision_id);
  });

  test('twenty concurrent changes with one key make one revision and all return it', async () => {
    const { id, first } = await made();
    const idempotencyKey = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fixture.control.patchDeployment(id, restate, { idempotencyKey })),
    );
    const [reported, ...others] = new Set(answers.map(({ latest_revision_id }) => latest_revision_id));
    expect([others, await revisionsOf(id)]).toEqual([[], [reported, first]]);
  });

  test('twenty concurrent redeploys with one key make one revision', async () => {
    const { id, first } = await made();
    const idempotencyKey = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fixture.control.redeployRevision(id, first, { idempotencyKey })),
    );
    const [reported, ...others] = new Set(answers.map(({ latest_revision_id }) => latest_revision_id));
    expect([others, await revisionsOf(id)]).toEqual([[], [reported, first]]);
  });

  test('twenty concurrent creations with one key make one deployment, no conflict', async () => {
    const request = fromGit();
    const idempotencyKey = randomUUID();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fixture.control.createDeployment(request, { idempotencyKey })),
    );
    const [id = '', ...others] = new Set(answers.map((answer) => answer.id));
    expect([others, (await revisionsOf(id)).length]).toEqual([[], 1]);
    expect((await refusalOf(fixture.control.createDeployment(request))).status).toBe(409);
  });

  test('a new revision without a change is made once too', async () => {
    const { id } = await made();
    const idempotencyKey = randomUUID();
    const revision = await fixture.control.createRevision(id, {}, { idempotencyKey });
    expect((await fixture.control.createRevision(id, {}, { idempotencyKey })).id).toBe(revision.id);
    expect(await revisionsOf(id)).toHaveLength(2);
  });

  test('a repetition returns its own revision, even if a newer one exists', async () => {
    const { id } = await made();
    const idempotencyKey = randomUUID();
    const own = await fixture.control.patchDeployment(id, restate, { idempotencyKey });
    const newer = await fixture.control.patchDeployment(id, { source_revision_config: { repo_ref: 'next' } });
    const again = await fixture.control.patchDeployment(id, restate, { idempotencyKey });
    expect([again.latest_revision_id, again.source_revision_config.repo_ref]).toEqual([own.latest_revision_id, 'main']);
    expect((await fixture.control.getDeployment(id)).latest_revision_id).toBe(newer.latest_revision_id);
  });

  test('a repetition gets its response before preconditions are checked', async () => {
    const { id, first } = await made();
    const options = { idempotencyKey: randomUUID(), ifLatest: first };
    const answer = await fixture.control.patchDeployment(id, restate, options);
    const again = await fixture.control.patchDeployment(id, restate, options);
    expect(again.latest_revision_id).toBe(answer.latest_revision_id);
  });

  test('a refusal is not stored: the same key works later', async () => {
    const { id, first } = await made();
    const idempotencyKey = randomUUID();
    const ifLatest = randomUUID();
    expect((await refusalOf(fixture.control.patchDeployment(id, restate, { idempotencyKey, ifLatest }))).status).toBe(
      412,
    );
    expect((await refusalOf(fixture.control.redeployRevision(id, first, { idempotencyKey, ifLatest }))).status).toBe(
      412,
    );
    const answer = await fixture.control.patchDeployment(id, restate, { idempotencyKey, ifLatest: first });
    expect(await revisionsOf(id)).toEqual([answer.latest_revision_id, first]);
  });

  test('a change in place is repeated without a revision', async () => {
    const { id, first } = await made();
    const patch = { source_config: { build_on_push: true } };
    const idempotencyKey = randomUUID();
    await fixture.control.patchDeployment(id, patch, { idempotencyKey });
    const again = await fixture.control.patchDeployment(id, patch, { idempotencyKey });
    expect([again.latest_revision_id, await revisionsOf(id)]).toEqual([first, [first]]);
  });

  test('the same key with another request is refused, whatever differs', async () => {
    const { id, first } = await made();
    const other = await made();
    const idempotencyKey = randomUUID();
    await fixture.control.patchDeployment(id, restate, { idempotencyKey });
    for (const call of [
      () => fixture.control.patchDeployment(id, { secrets: [] }, { idempotencyKey }),
      () => fixture.control.patchDeployment(other.id, restate, { idempotencyKey }),
      () => fixture.control.redeployRevision(id, first, { idempotencyKey }),
      () => fixture.control.createDeployment(fromGit(), { idempotencyKey }),
    ]) {
      expect(await refusalOf(call())).toMatchObject({ status: 422, at: ['header.Idempotency-Key'] });
    }
    expect([await revisionsOf(id), await revisionsOf(other.id)]).toMatchObject([{ length: 2 }, [other.first]]);
  });

  test('the order of fields and unknown fields do not change a request', async () => {
    const { id } = await made();
    const idempotencyKey = randomUUID();
    const secrets = [{ name: 'A', value: '1' }];
    const one = await fixture.control.patchDeployment(id, { secrets, ...restate }, { idempotencyKey });
    const two = await fixture.control.patchDeployment(
      id.toUpperCase(),
      { ...restate, secrets, x: 1 },
      { idempotencyKey },
    );
    expect(two.latest_revision_id).toBe(one.latest_revision_id);
  });

  test('tenants do not share keys', async () => {
    const idempotencyKey = randomUUID();
    const mine = await fixture.control.createDeployment(fromGit(), { idempotencyKey });
    const theirs = await fixture.stranger.createDeployment(fromGit(), { idempotencyKey });
    expect(theirs.id).not.toBe(mine.id);
  });

  test.each([
    ['empty', ''],
    ['too long', 'k'.repeat(256)],
    ['with a space', 'a b'],
  ])('a key that is %s is refused', async (_what, idempotencyKey) => {
    const { id, first } = await made();
    const refused = await refusalOf(fixture.control.patchDeployment(id, restate, { idempotencyKey }));
    expect([refused, await revisionsOf(id)]).toMatchObject([{ status: 422, at: ['header.Idempotency-Key'] }, [first]]);
  });
});
