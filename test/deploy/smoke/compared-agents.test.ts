import { expect, test } from 'vitest';
import { attributedTo } from '../../../src/deploy/smoke/compare-agents.ts';
import { type AgentSearch, findAgents } from '../../../src/deploy/smoke/compared-agents.ts';
import { hashOfTest } from '../../../src/deploy/smoke/kept-baselines.ts';
import type { Verdict } from '../../../src/deploy/rules/verdict-types.ts';
import { ends, goesLive } from '../machine/control-model.ts';
import { built, DeployFixture, first, hello } from '../machine/deploy-fixture.ts';
import { heldAddress } from '../machine/model-holds.ts';

const usual = { kind: 'usual' } as const;
const revision = (id: string) => ({ kind: 'revision', id }) as const;
const other = { kind: 'address', address: 'https://other.test' } as const;
const live = { kind: 'live', revisionId: 'r2', address: 'https://agent.test' };
const held = { kind: 'held', revisionId: 'r3', address: heldAddress('r3') };

/** r1 was replaced by r2, which is live; r3 follows the script for a minute, held for ten where it is to be live. */
async function deployed({ script = goesLive(first), holds = true } = {}) {
  const fixture = new DeployFixture();
  const { control, clock, masked } = fixture;
  control.lacks.clear();
  control.has(built, goesLive(first), goesLive(first));
  await fixture.passes(60_000);
  control.scripts.push(script);
  await control.patchDeployment('d1', { secrets: built.secrets }, holds ? { holdSeconds: 600 } : {});
  await fixture.passes(60_000);
  const find = (request: Partial<AgentSearch>) =>
    findAgents({
      live: usual,
      changed: usual,
      tests: [hello],
      service: { control, deployment: { name: 'agent' } },
      clock,
      mask: (secret) => masked.push(secret),
      note: () => undefined,
      ...request,
    });
  return { control, masked, find };
}

test('revisions stand for their agents: the live one, the held one, or those that are named', async () => {
  const { find, masked } = await deployed();
  expect(await find({})).toMatchObject({ ok: true, live, changed: held });
  expect(masked).toEqual(['canary-of-the-service']);
  expect(await find({ live: revision('r3'), changed: revision('r2') })).toMatchObject({ live: held, changed: live });
  expect(await find({ live: other })).toMatchObject({ ok: true, live: other, changed: held });
  expect(await find({ live: other, changed: other, service: undefined })).toEqual({
    ok: true,
    live: other,
    changed: other,
  });
});

test('the answers that are kept of a replaced revision stand for it, as the live one only', async () => {
  const { find, control } = await deployed();
  const answer = { answer: 'right' as const, first_event_ms: null, total_ms: 1, nodes: [] };
  await control.keepBaseline('d1', 'r1', hashOfTest(hello), { answers: [answer] });
  expect(await find({ live: revision('r1') })).toMatchObject({ live: { kind: 'kept', revisionId: 'r1' } });
  expect(await find({ changed: revision('r1') })).toMatchObject({
    which: 'new',
    problem: expect.stringMatching(
      /^Revision r1 does not serve \(DEPLOYED\): revision r2 does\. Deploy it again, held /,
    ),
  });
});

const building = [{ after: 0, status: 'BUILDING' }];

test.each([
  ['one without kept answers', {}, { live: revision('r1') }, 'live: Revision r1 does not serve (DEPLOYED), and no ans'],
  ['one that is unknown', {}, { changed: revision('r9') }, 'new: Deployment agent has no revision r9. Look at its'],
  ['the same twice', {}, { changed: revision('r2') }, 'new: Revision r2 would be compared with itself. Give another'],
  ['none held', { holds: false }, {}, 'new: Deployment agent has no held revision. Deploy it, held before'],
  [
    'one not held yet',
    { script: building },
    { changed: revision('r3') },
    'new: Revision r3 is not held yet (BUILDING).',
  ],
  [
    'one that is built',
    { script: building, holds: false },
    { changed: revision('r3') },
    'new: Revision r3 does not serve yet (BUILDING). Run this again once it is live.',
  ],
  [
    'one that failed',
    { script: ends('BUILD_FAILED') },
    { changed: revision('r3') },
    'new: Revision r3 failed (BUILD_FAILED). Read its log, correct what it names, and deploy it again.',
  ],
])('refuses %s', async (_, situation, request, problem) => {
  const { find } = await deployed(situation);
  const found = await find(request);
  expect(found.ok ? '' : `${found.which}: ${found.problem}`.slice(0, problem.length)).toBe(problem);
});

test('answers are not those of a revision that was replaced meanwhile', async () => {
  const { find, control } = await deployed();
  const found = await find({});
  if (!found.ok) throw new Error(found.problem);
  const verdict: Verdict = {
    kind: 'passed',
    tests: [{ name: 'hi', attempts: 1, verdict: { kind: 'passed', held: [], firstEventMs: 1, totalMs: 1 } }],
  };
  const attributed = () => attributedTo(verdict, found, { control, note: () => undefined });
  expect(await attributed()).toBe(verdict);
  await control.promoteRevision('d1', 'r3');
  expect(await attributed()).toMatchObject({ kind: 'unproven', tests: [{ verdict: { because: 'replaced' } }] });
});
