import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyRow } from '../every-row.ts';
import { fromGit, openServiceFixture, refusalOf, type ServiceFixture } from '../service-fixture.ts';

let fixture: ServiceFixture;
beforeAll(async () => {
  fixture = await openServiceFixture();
});
afterAll(() => fixture.close());

async function made(changes: Record<string, unknown> = {}): Promise<[id: string, revision: string]> {
  const { id, latest_revision_id } = await fixture.control.createDeployment(fromGit(changes));
  await fixture.rollouts.settled();
  return [id, latest_revision_id ?? ''];
}

const hashOf = (index: number): string => index.toString(16).padStart(64, '0');
const hash = hashOf(0xa);
const answer = { answer: 'right', first_event_ms: 120, total_ms: 900.5, nodes: ['plan', 'say'], tokens: 400 };
const measured = (total_ms: number) => ({ answers: [{ ...answer, total_ms }] });

test('returns what a test measured last of a revision, and of no other revision or test', async () => {
  const [id, revision] = await made();
  expect(await refusalOf(fixture.control.getBaseline(id, revision, hash))).toMatchObject({ status: 404 });
  await fixture.control.keepBaseline(id, revision, hash, measured(1));
  const kept = await fixture.control.keepBaseline(id, revision, hash, measured(2));
  expect(kept).toEqual({
    revision_id: revision,
    test_hash: hash,
    taken_at: expect.stringMatching(/^20.*Z$/),
    ...measured(2),
  });
  expect(await fixture.control.getBaseline(id, revision, hash)).toEqual(kept);
  const other = await fixture.control.createRevision(id, {});
  for (const [of, wanted] of [
    [other.id, hash],
    [revision, hashOf(0xb)],
  ] as const) {
    expect(await refusalOf(fixture.control.getBaseline(id, of, wanted))).toMatchObject({ status: 404 });
  }
});

test('masks the secrets of the agent in names', async () => {
  const secret = 'sk-0123456789abcdef';
  const [id, revision] = await made({ secrets: [{ name: 'KEY', value: secret }] });
  const answers = [{ ...answer, nodes: [`call ${secret}`], tools: [secret] }];
  expect((await fixture.control.keepBaseline(id, revision, hash, { answers })).answers).toMatchObject([
    { nodes: ['call ***'], tools: ['***'] },
  ]);
  expect(JSON.stringify((await everyRow(fixture.databaseUrl))['control.baselines'])).not.toContain(secret);
});

test('keeps the 200 of a deployment that were reported last, and none of a deleted one', async () => {
  const [[id, revision], [neighbour, its]] = [await made(), await made()];
  await fixture.control.keepBaseline(neighbour, its, hash, measured(1));
  for (let index = 0; index < 200; index += 1) {
    await fixture.inProcess.keepBaseline(id, revision, hashOf(index), measured(1));
  }
  await fixture.control.keepBaseline(id, revision, hashOf(0), measured(2));
  await fixture.control.keepBaseline(id, revision, hashOf(200), measured(1));
  expect(await fixture.control.getBaseline(id, revision, hashOf(0))).toMatchObject(measured(2));
  expect(await refusalOf(fixture.control.getBaseline(id, revision, hashOf(1)))).toMatchObject({ status: 404 });
  expect(await fixture.control.getBaseline(neighbour, its, hash)).toMatchObject(measured(1));
  const stored = async () =>
    (await everyRow(fixture.databaseUrl))['control.baselines']?.filter((row) => row.includes(id));
  expect(await stored()).toHaveLength(200);
  await fixture.control.deleteDeployment(id);
  const { status } = await refusalOf(fixture.control.keepBaseline(id, revision, hash, measured(1)));
  expect([404, 409]).toContain(status);
  await fixture.rollouts.settled();
  expect(await stored()).toEqual([]);
});

test.each([
  ['no answer', { answers: [] }, ['body.answers']],
  ['too many answers', { answers: Array.from({ length: 161 }, () => answer) }, ['body.answers']],
  ['a time that is none', { answers: [{ ...answer, total_ms: -1 }] }, ['body.answers.0.total_ms']],
  ['a path that is too long', { answers: [{ ...answer, nodes: Array(51).fill('a') }] }, ['body.answers.0.nodes']],
  [
    'answers that are too large together',
    { answers: Array.from({ length: 160 }, () => ({ ...answer, nodes: Array(10).fill('x'.repeat(200)) })) },
    ['body.answers'],
  ],
])('rejects %s', async (_, body, at) => {
  const [id, revision] = await made();
  expect(await refusalOf(fixture.control.keepBaseline(id, revision, hash, body))).toMatchObject({ status: 422, at });
});

test('rejects a hash that is none', async () => {
  const [id, revision] = await made();
  for (const wrong of ['a', hash.toUpperCase()]) {
    const refused = await refusalOf(fixture.control.getBaseline(id, revision, wrong));
    expect(refused).toMatchObject({ status: 422, at: ['path.test_hash'] });
  }
});
