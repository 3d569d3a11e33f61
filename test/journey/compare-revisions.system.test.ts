import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import { folderOf, runHere } from '../cli/run-cli.ts';
import { openJourneyFixture, type JourneyFixture } from './fixture.ts';

let fixture: JourneyFixture;
let repository: Repository;
let deploymentId = '';
let first = '';
beforeAll(async () => {
  fixture = await openJourneyFixture();
  repository = await fixture.repository('measured');
  const outputs = await deploy('nothing');
  deploymentId = outputs['deployment-id'] ?? '';
  first = outputs['revision-id'] ?? '';
});
afterAll(() => fixture?.close());

const tests = (more: object = {}) =>
  JSON.stringify([
    {
      name: 'knows the refund policy',
      assistant: 'talk',
      input: { input: 'How long do I have for a refund?' },
      expect: { values: [{ path: '$.said', equals: '30 days' }] },
      ...more,
    },
  ]);

async function deploy(planted: string, more: Record<string, string> = {}): Promise<Record<string, string>> {
  const inputs = { 'smoke-tests': tests(), secrets: 'PLANTED', rebuild: 'never', ...more };
  return (await fixture.step(repository, { inputs, env: { PLANTED: planted } })).outputs;
}

const compare = (...options: string[]) => run('compare', '--smoke-tests', tests(), '--tries', '30', ...options);

async function run(command: string, ...options: string[]) {
  const folder = folderOf({});
  try {
    const env = { LANDFALL_API_KEY: fixture.service.apiKey, LANDFALL_BASE_URL: fixture.service.url };
    return await runHere([command, '--deployment-id', deploymentId, ...options], { cwd: folder.path, env });
  } finally {
    folder.remove();
  }
}

/** A revision that is held. */
async function holdOne(): Promise<string> {
  const { latest_revision_id } = await fixture.control.patchDeployment(
    deploymentId,
    { secrets: [{ name: 'PLANTED', value: 'costly' }] },
    { holdSeconds: 600 },
  );
  const held = latest_revision_id ?? '';
  await expect
    .poll(async () => (await fixture.control.getRevision(deploymentId, held)).hold?.ends_at, { timeout: 120_000 })
    .toBeTruthy();
  return held;
}

test('without any, the live revision is compared with the held one', async () => {
  expect(await compare()).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^--new: Deployment measured has no held revision\. Deploy it, held before traffic /),
  });
  const held = await holdOne();
  const end = await compare('--json');
  expect(end.err).toContain(`Comparing the live revision ${first} (`);
  expect(JSON.parse(end.out)).toMatchObject({
    outcome: 'worse',
    live: { revision_id: first, kept_at: null },
    new: { revision_id: held, address: expect.stringContaining(held) },
    tests: [
      {
        pairs: 30,
        measures: expect.arrayContaining([
          expect.objectContaining({ measure: 'pass-rate', verdict: 'no-worse' }),
          expect.objectContaining({ measure: 'tokens', verdict: 'worse' }),
        ]),
      },
    ],
  });
  await fixture.control.discardRevision(deploymentId, held);
  expect(await compare('--new', held)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`--new: Revision ${held} was discarded before it got traffic. `),
  });
});

test('kept answers stand for a revision that serves no more, and another one is refused', async () => {
  const series = { 'smoke-tests': tests({ 'pass-rate': 'baseline', tries: 30 }) };
  const { 'revision-id': next = '' } = await deploy('costly', {
    ...series,
    verify: 'after-traffic',
    rebuild: 'always',
  });
  const end = await compare('--live', first, '--new', next);
  expect(end.out).toContain(`Comparing kept answers of revision ${first} with the live revision ${next} (`);
  expect(end.out).toContain(
    `Note: revision ${first} does not serve, so its kept answers stand for it, the oldest from 2`,
  );
  expect(end.out).toMatch(/knows the refund policy {2}tokens .* worse\n/);
  expect(end.out).toContain('Outcome: worse');
  expect(end.code).toBe(1);
  expect(await compare('--new', first)).toMatchObject({
    code: 1,
    err: expect.stringMatching(`^--new: Revision ${first} does not serve \\(DEPLOYED\\): revision ${next} does\\. `),
  });
});

test('a held revision is discarded, and the newer one that waited for it goes on', async () => {
  const held = await holdOne();
  const newer = await fixture.control.patchDeployment(deploymentId, { secrets: [{ name: 'PLANTED', value: 'wrong' }] });
  expect(await run('discard', '--revision', first)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`refused: Revision ${first} of measured is not held. `),
  });
  const discarded = await run('discard', '--json');
  expect(JSON.parse(discarded.out)).toMatchObject({ outcome: 'discarded', passes: true, revision_id: held });
  // What waited behind it goes on.
  await expect
    .poll(async () => (await fixture.control.getDeployment(deploymentId)).active_revision_id, { timeout: 120_000 })
    .toBe(newer.latest_revision_id);
  expect(await run('discard')).toMatchObject({
    code: 1,
    err: expect.stringContaining('refused: Deployment measured has no held revision. '),
  });
  expect(await run('discard', '--revision', 'x')).toMatchObject({ code: 2 });
});
