import { describe, expect, test } from 'vitest';
import type { DeployRunRequest } from '../../../src/deploy/machine/deploy-run.ts';
import { eventLines } from '../../../src/deploy/words/event-lines.ts';
import { toResultJson } from '../../../src/deploy/words/result-json.ts';
import { summary } from '../../../src/deploy/words/summary.ts';
import { AgentModel, says } from '../smoke/agent-model.ts';
import { ends, goesLive, serviceError } from './control-model.ts';
import {
  built,
  DeployFixture,
  first,
  hello,
  image,
  imaged,
  second,
  workflowOn,
  type RunOfTest,
} from './deploy-fixture.ts';
import { heldAddress } from './model-holds.ts';

const third = 'c'.repeat(40);
const wrong = says('good bye');
const unreachable = serviceError('unreachable', 'stream run');
const tested: RunOfTest = { workflow: workflowOn(second), smokeTests: [hello] };

/** r1 is live on a service that holds revisions. The held revision answers as its agent does, the live one well. */
async function holding(...answers: AgentModel['answers']) {
  const fixture = new DeployFixture();
  fixture.control.lacks.clear();
  fixture.control.has(built, goesLive(first));
  await fixture.passes(60_000);
  const held = new AgentModel(fixture.clock, ...answers);
  const agentAt = (url: string) => {
    fixture.addresses.push(url);
    return url.startsWith('https://held.test/') ? held : fixture.agent;
  };
  const deploy = (request: RunOfTest = {}) =>
    fixture.deploy({ ...tested, agentAt, further: fixture.control, ...request });
  const shown = () => fixture.control.service.revision('r2');
  return { fixture, held, deploy, shown, control: fixture.control };
}

describe('a revision that is tested before it gets traffic', () => {
  test('is promoted if it passes; requests go only to its own address', async () => {
    const { fixture, deploy, control } = await holding();
    const outcome = await deploy();
    expect(outcome).toMatchObject({
      kind: 'deployed',
      passes: true,
      revisionId: 'r2',
      activeRevisionId: 'r2',
      verified: 'before-traffic',
      verdict: { kind: 'passed' },
    });
    expect(fixture.addresses).toEqual([heldAddress('r2')]);
    expect([control.count('promote'), control.count('discard')]).toEqual([1, 0]);
    expect(control.verdicts).toMatchObject([{ revisionId: 'r2', report: { kind: 'passed' } }]);
    expect(fixture.events.flatMap(eventLines)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Revision r2 is healthy and held: it gets no traffic until it is promoted/),
        'Revision r2 is promoted: Its smoke tests passed.',
      ]),
    );
  });

  test('is discarded if it fails, and the live one goes on, whatever on-failure says', async () => {
    const { deploy, control, shown } = await holding(wrong);
    const outcome = await deploy({ onFailure: 'rollback' });
    expect(outcome).toMatchObject({
      kind: 'discarded',
      passes: false,
      revisionId: 'r2',
      activeRevisionId: 'r1',
      advice: 'Correct the agent and deploy again.',
    });
    expect(outcome.reason).toBe(
      'Revision r2 failed its smoke tests before it got traffic, and was discarded: says hello: $.output contains "hello" was expected, "good bye" was seen. Revision r1 still serves.',
    );
    expect(outcome).not.toHaveProperty('rollback');
    expect([control.count('promote'), control.count('redeploy')]).toEqual([0, 0]);
    expect(shown()).toMatchObject({
      status: 'INTERRUPTED',
      status_message: expect.stringContaining('It failed its smoke tests: says hello:'),
    });
    expect(control.verdicts).toMatchObject([{ revisionId: 'r2', report: { kind: 'failed' } }]);
    expect(toResultJson(outcome)).toMatchObject({
      outcome: 'discarded',
      verified: 'before-traffic',
      smoke_verdict: 'failed',
    });
    expect(summary(outcome)).toContain('### Smoke tests before traffic: failed');
  });

  test('is discarded if it gives no answer, and the live one goes on', async () => {
    const { deploy, control } = await holding(unreachable);
    const outcome = await deploy({ onFailure: 'rollback', onUnproven: 'promote' });
    expect(outcome).toMatchObject({ kind: 'discarded', passes: false, activeRevisionId: 'r1' });
    expect(outcome.reason).toMatch(
      /^Revision r2 was discarded before it got traffic, because its smoke tests proved nothing: says hello: .* Revision r1 still serves\.$/,
    );
    expect(outcome.advice).toMatch(/^Check that the agent can be reached .*on-unproven: promote/);
    expect([control.count('promote'), control.count('discard'), control.count('redeploy')]).toEqual([0, 1, 0]);
  });

  test.each([
    ['keep', 'discarded', 'r1'],
    ['promote', 'unproven', 'r2'],
  ] as const)('whose answers differ follows on-unproven: %s', async (onUnproven, kind, activeRevisionId) => {
    const { deploy } = await holding(wrong, says('hello'));
    const outcome = await deploy({ onUnproven });
    expect(outcome).toMatchObject({ kind, passes: false, activeRevisionId });
  });

  test('takes no traffic unproven from a live revision that the service no longer returns', async () => {
    const { fixture, deploy, control } = await holding(unreachable);
    control.push(ends('BUILD_FAILED', second));
    await fixture.passes(60_000);
    control.forgotten = 'r1';
    const outcome = await deploy({ onUnproven: 'keep' });
    expect(outcome).toMatchObject({ kind: 'discarded', activeRevisionId: 'r1' });
    expect(outcome.reason).toContain('Revision r1 still serves.');
  });

  test('is promoted if nothing is proven of the first revision, and says so', async () => {
    const fixture = new DeployFixture();
    fixture.control.lacks.clear();
    fixture.agent.answers = [unreachable];
    const outcome = await fixture.deploy({ smokeTests: [hello] });
    expect(outcome).toMatchObject({ kind: 'unproven', passes: false, activeRevisionId: 'r1' });
    expect(outcome.reason).toMatch(/^Revision r1 was promoted, but is not proven to answer: says hello:/);
  });

  test('is the first of its deployment as well', async () => {
    const fixture = new DeployFixture();
    fixture.control.lacks.clear();
    fixture.agent.answers = [wrong];
    const outcome = await fixture.deploy({ smokeTests: [hello] });
    expect(outcome).toMatchObject({ kind: 'discarded', revisionId: 'r1' });
    expect(outcome.reason).toContain('Nothing is live yet.');
    expect(fixture.addresses).toEqual([heldAddress('r1')]);
  });

  test('is one that an earlier run held and did not decide about', async () => {
    const { deploy, control } = await holding(wrong);
    control.scripts.push(goesLive(second));
    await control.patchDeployment('d1', { source_revision_config: { repo_ref: 'main' } }, { holdSeconds: 1_800 });
    expect(await deploy()).toMatchObject({ kind: 'discarded', revisionId: 'r2', activeRevisionId: 'r1' });
    expect(control.count('patch')).toBe(1);
  });

  test('can fail before it is healthy', async () => {
    const { deploy, control } = await holding();
    control.scripts.push(ends('DEPLOY_FAILED', second));
    expect(await deploy()).toMatchObject({ kind: 'failed', activeRevisionId: 'r1' });
  });
});

describe('a revision is not held', () => {
  test.each<[string, RunOfTest]>([
    ['without smoke tests', { smokeTests: [] }],
    ['if the file says after-traffic', { verify: 'after-traffic' }],
    ['if the run does not wait for it', { wait: false }],
  ])('%s', async (_, request) => {
    const { deploy, control, shown } = await holding();
    await deploy(request);
    expect(shown()).not.toHaveProperty('hold');
    expect(control.count('promote')).toBe(0);
  });

  test.each<[string, DeployRunRequest['verify'], string[]]>([
    ['and goes live first', undefined, []],
    [
      'which is noted if it was requested',
      'before-traffic',
      [
        'verify: before-traffic is not possible: this service does not hold revisions. The revision is tested once it is live',
      ],
    ],
  ])('by a service without holds, %s', async (_, verify, notes) => {
    const { deploy, control, fixture } = await holding();
    control.lacks.add('holds');
    fixture.agent.answers = [wrong];
    expect(await deploy({ verify })).toMatchObject({ kind: 'broken', verified: 'after-traffic', notes });
    expect(fixture.addresses).toEqual(['https://agent.test']);
  });

  test('by a service that does not say its features, unless the file needs it', async () => {
    const unavailable = serviceError('busy', 'get service info', { status: 503 });
    const { deploy, control, shown } = await holding();
    control.fails('features', unavailable);
    expect(await deploy({ verify: 'before-traffic' })).toMatchObject({ kind: 'failed', changed: false });
    control.fails('features', unavailable);
    const outcome = await deploy();
    expect(outcome).toMatchObject({ kind: 'deployed', verified: 'after-traffic' });
    expect(outcome.notes[0]).toMatch(/^The revision is tested once it is live: get service info: answered 503/);
    expect(shown()).not.toHaveProperty('hold');
  });

  test.each<[DeployRunRequest['verify'], number]>([
    [undefined, 0],
    ['before-traffic', 1],
  ])('if the service refuses it of an image: the change is sent without (%s)', async (verify, notes) => {
    const fixture = new DeployFixture();
    fixture.control.lacks.clear();
    fixture.control.holdsImages = false;
    fixture.control.has(imaged, goesLive());
    await fixture.passes(60_000);
    const outcome = await fixture.deploy({
      desired: { ...image, imageUri: 'registry.example.com/support:2' },
      smokeTests: [hello],
      verify,
    });
    expect(outcome).toMatchObject({ kind: 'deployed', verified: 'after-traffic', revisionId: 'r2' });
    expect(fixture.control.count('patch')).toBe(2);
    expect(outcome.notes.filter((note) => note.includes('A revision of an image can not be held'))).toHaveLength(notes);
  });
});

describe('a hold that another client ends', () => {
  test('leaves what its tests made to the live revision, which removes it', async () => {
    const { fixture, held, deploy } = await holding();
    const removed: string[] = [];
    fixture.agent.deleteThread = async (id) => void removed.push(id);
    held.removal = serviceError('missing', 'delete thread', { status: 404 });
    held.isWell = false;
    await deploy({ smokeTests: [{ ...hello, thread: true }] });
    expect([removed, fixture.addresses]).toEqual([['thread1'], [heldAddress('r2'), 'https://agent.test']]);
  });

  test('before the verdict, by a discard, is reported', async () => {
    const { deploy, control, held } = await holding();
    const createThread = held.createThread.bind(held);
    held.createThread = async (...request) => {
      await control.discardRevision('d1', 'r2', { why: 'by hand' });
      return createThread(...request);
    };
    const outcome = await deploy({ smokeTests: [{ ...hello, thread: true }] });
    expect(outcome).toMatchObject({ kind: 'discarded', activeRevisionId: 'r1' });
    expect(outcome.reason).toBe(
      'Revision r2 was discarded before it got traffic, and not by this run: It was discarded before it got traffic: by hand. Revision r1 still serves.',
    );
    expect(outcome.notes).toContain('revision r2 was to be promoted, but it was discarded before');
  });

  test('before the verdict, by promoting it, is tested again once it is live', async () => {
    const { fixture, deploy, control, held } = await holding(unreachable);
    const createThread = held.createThread.bind(held);
    held.createThread = async (...request) => {
      await control.promoteRevision('d1', 'r2');
      return createThread(...request);
    };
    const outcome = await deploy({ smokeTests: [{ ...hello, thread: true }] });
    expect(outcome).toMatchObject({ kind: 'deployed', verified: 'after-traffic', verdict: { kind: 'passed' } });
    expect(fixture.addresses.at(-1)).toBe('https://agent.test');
    expect(control.count('discard')).toBe(0);
  });

  test('by promoting what fails, is rolled back as a live revision is', async () => {
    const { deploy, control } = await holding(wrong);
    const discard = control.discardRevision.bind(control);
    control.discardRevision = async (...request) => {
      await control.promoteRevision('d1', 'r2');
      return discard(...request);
    };
    const outcome = await deploy({ onFailure: 'rollback' });
    expect(outcome).toMatchObject({ kind: 'rolled-back', rollback: { kind: 'done', toRevisionId: 'r1' } });
    expect(outcome.notes).toContain('revision r2 was to be discarded, but another client promoted it first');
  });
});

describe('the decision about a hold', () => {
  test.each([
    ['is sent again until the service takes it', false, 3],
    ['is read from the revision if its response was lost', true, 1],
  ])('%s', async (_, applied, sent) => {
    const { deploy, control } = await holding();
    const busy = serviceError('busy', 'promote revision', { status: 503, effect: 'unknown' });
    control.fails('promote', busy, { times: applied ? 1 : 2, applied });
    expect(await deploy()).toMatchObject({ kind: 'deployed', activeRevisionId: 'r2' });
    expect(control.count('promote')).toBe(sent);
  });

  test('that the key may not make leaves the hold, and says how it ends', async () => {
    const { deploy, control } = await holding();
    control.fails('promote', serviceError('unauthorized', 'promote revision', { status: 403 }));
    const outcome = await deploy();
    expect(outcome).toMatchObject({ kind: 'failed', activeRevisionId: 'r1' });
    expect(outcome.reason).toMatch(/Revision r2 goes on, gets no traffic until it is promoted, and is discarded at 20/);
  });

  test('that nothing makes in time is missing in the outcome', async () => {
    const { deploy } = await holding();
    const outcome = await deploy({ timeoutMs: 20_000 });
    expect(outcome.kind).toBe('timed-out');
    expect(outcome.reason).toContain(
      'last seen BUILDING, gets no traffic until it is promoted, and is discarded 30 minutes after it is healthy',
    );
  });
});

test('a held revision of another commit is discarded untested, also once the service is there again', async () => {
  const { fixture, deploy, control } = await holding();
  control.scripts.push(goesLive(third));
  control.fails('discard', serviceError('busy', 'discard revision', { status: 503 }), { times: 2 });
  const outcome = await deploy({ commit: second, head: second });
  expect(outcome).toMatchObject({ passes: false, revisionId: 'r2' });
  expect(control.service.revision('r2')?.hold).toMatchObject({ decision: 'discarded' });
  expect([control.count('discard'), control.count('promote')]).toEqual([3, 0]);
  expect(fixture.addresses).toEqual([]);
});

describe('a cancelled run', () => {
  test.each([
    ['discards the revision that it tests', 'discard', 'held'],
    ['interrupts the revision that is not healthy yet', 'interrupt', 'status'],
  ] as const)('%s', async (_, operation, when) => {
    const { fixture, deploy, control, shown } = await holding();
    const outcome = await deploy({
      emit: (event) => {
        if (event.kind === when) fixture.cancelled.abort(new Error('cancelled'));
      },
    });
    expect(outcome).toMatchObject({
      kind: 'interrupted',
      reason: 'This step was ended, and revision r2 with it: it was not tested, and got no traffic.',
    });
    expect(control.count(operation)).toBe(1);
    expect(shown()?.status).toBe('INTERRUPTED');
  });

  test('says how the hold ends that it can not end', async () => {
    const { fixture, deploy, control } = await holding();
    control.fails('discard', serviceError('unreachable', 'discard revision'));
    const outcome = await deploy({
      emit: ({ kind }) => {
        if (kind === 'held') fixture.cancelled.abort(new Error('cancelled'));
      },
    });
    expect(outcome.reason).toMatch(
      /revision r2 goes on \(last seen DEPLOYING\), gets no traffic until it is promoted, and is discarded at 20/,
    );
  });

  test('leaves a revision that it did not make', async () => {
    const { fixture, deploy, control } = await holding();
    control.scripts.push(goesLive(second));
    await control.patchDeployment('d1', { source_revision_config: { repo_ref: 'main' } }, { holdSeconds: 1_800 });
    await deploy({
      emit: ({ kind }) => {
        if (kind === 'held') fixture.cancelled.abort(new Error('cancelled'));
      },
    });
    expect([control.count('discard'), control.count('interrupt')]).toEqual([0, 0]);
  });
});

test('tests that would outlast the hold prove nothing, and the live one goes on', async () => {
  const { deploy, control } = await holding(says('good bye', 600_000));
  const slow = { ...hello, attempts: 20, timeoutMs: 900_000 };
  const outcome = await deploy({ smokeTests: [slow] });
  expect(outcome.reason).toContain('the hold of the revision ends soon');
  expect([control.count('promote'), control.count('discard')]).toEqual([0, 1]);
});

describe('a test against the live revision', () => {
  const series = { kind: 'live', atOnce: 4, tries: 30, drop: 0.3, decideBy: ['pass-rate', 'total'], tests: 1 } as const;
  const smokeTests = [{ ...hello, series }];

  test('sends to the held and to the live one in turns, and a slower one is discarded', async () => {
    const { fixture, held, deploy } = await holding(says('hello', 1_300));
    fixture.agent.answers = [says('hello', 1_000)];
    const outcome = await deploy({ smokeTests });
    expect(outcome).toMatchObject({ kind: 'discarded', activeRevisionId: 'r1' });
    expect(outcome.reason).toContain(
      'total time: no worse than live was expected, 1.3 s, live 1.0 s, +300 ms (+30 %) was seen',
    );
    expect([held.requested.length, fixture.agent.requested.length]).toEqual([31, 31]);
    expect(summary(outcome)).toContain('30 of 30, live 30 of 30');
  });

  test('is promoted if it is no worse', async () => {
    const { deploy } = await holding(says('hello'));
    expect(await deploy({ smokeTests })).toMatchObject({ kind: 'deployed', verdict: { kind: 'passed' } });
  });

  test('measures the live one before the change, where none is held', async () => {
    const { fixture, deploy, control } = await holding();
    fixture.agent.answers = Array.from({ length: 30 }, () => says('hello'));
    const patches: number[] = [];
    const patch = control.patchDeployment.bind(control);
    control.patchDeployment = (...given) => {
      patches.push(fixture.agent.requested.length);
      fixture.agent.answers = [wrong];
      return patch(...given);
    };
    const outcome = await deploy({ smokeTests, verify: 'after-traffic', onFailure: 'keep' });
    expect(patches).toEqual([30]);
    expect(outcome).toMatchObject({
      kind: 'broken',
      verdict: {
        tests: [
          {
            verdict: {
              kind: 'failed',
              comparison: {
                isBeside: false,
                live: { right: 30, answers: 30 },
                changed: { right: 0, answers: 30 },
                // All answers of the live one have the nodes that are compared.
                measures: expect.arrayContaining([expect.objectContaining({ measure: 'nodes', live: 1, changed: 1 })]),
              },
            },
          },
        ],
      },
    });
  });

  const byHour = { ...series, decideBy: ['pass-rate'] } as const;

  test('measures the live one only as far as its kept answers do not reach, and keeps what was measured', async () => {
    const { fixture, deploy, control } = await holding();
    const request = { smokeTests: [{ ...hello, series: byHour }], verify: 'after-traffic' as const };
    await deploy(request);
    // The live one was measured before the change, and the new one after it: one of its answers was a cold start.
    expect(fixture.agent.requested).toHaveLength(30 + 31);
    expect([...control.baselines.keys()].map((key) => key.split(' ')[0])).toEqual(['r1', 'r2']);
    control.scripts.push(goesLive(third));
    const outcome = await deploy({ ...request, workflow: workflowOn(third) });
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r3' });
    expect(outcome.notes).toContainEqual(
      expect.stringMatching(
        /^1 smoke test is compared with answers of the live revision r2 that were kept, .* from 20/,
      ),
    );
    expect(fixture.agent.requested).toHaveLength(30 + 31 + 31);
    expect(fixture.events.filter(({ kind }) => kind === 'measuring-live')).toHaveLength(1);
  });

  test('compares each test with its own answers of the live revision, measured before the change or kept', async () => {
    const { fixture, deploy, control } = await holding();
    const right = (count: number) => Array.from({ length: count }, () => says('hello'));
    const smokeTests = ['says hello', 'is never right'].map((name) => ({
      ...hello,
      name,
      input: { name },
      series: byHour,
    }));
    const comparedWith = async (commit: string) => {
      const { verdict } = await deploy({ smokeTests, verify: 'after-traffic', workflow: workflowOn(commit) });
      return verdict?.tests.map((each) => each.verdict.comparison?.live);
    };
    fixture.agent.answers = [...right(30), wrong];
    const patch = control.patchDeployment.bind(control);
    control.patchDeployment = (...given) => {
      fixture.agent.answers = [...right(31), wrong];
      return patch(...given);
    };
    const own = [
      { right: 30, answers: 30 },
      { right: 0, answers: 30 },
    ];
    expect(await comparedWith(second)).toEqual(own);
    const measured = fixture.agent.requested.length;
    control.scripts.push(goesLive(third));
    expect(await comparedWith(third)).toEqual(own);
    expect(fixture.agent.requested.length - measured).toBe(2 * 31);
  });

  test('takes no kept answers of another hour for a verdict by times', async () => {
    const { fixture, deploy, control } = await holding();
    const request = { smokeTests, verify: 'after-traffic' as const };
    await deploy(request);
    control.scripts.push(goesLive(third));
    await deploy({ ...request, workflow: workflowOn(third) });
    expect([fixture.agent.requested.length, control.count('get baseline')]).toEqual([2 * (30 + 31), 0]);
  });

  test('keeps nothing of a revision that failed', async () => {
    const { fixture, deploy, control } = await holding(wrong);
    expect(await deploy({ smokeTests })).toMatchObject({ kind: 'discarded' });
    expect([control.count('keep baseline'), fixture.agent.requested.length]).toEqual([0, 31]);
  });

  test('measures anew, and compares with, the revision that serves when the change is sent again', async () => {
    const { fixture, deploy, control } = await holding();
    const patch = control.patchDeployment.bind(control);
    let isFirst = true;
    control.patchDeployment = async (id, request, options) => {
      if (!isFirst) return patch(id, request, options);
      isFirst = false;
      fixture.agent.answers = [wrong];
      control.scripts.push(goesLive(second));
      // Another client is first: its agent is the one that is compared with.
      await patch(id, { source_revision_config: { repo_ref: 'other' } });
      await fixture.passes(60_000);
      throw serviceError('conflict', 'patch deployment', { status: 412 });
    };
    const outcome = await deploy({ smokeTests, verify: 'after-traffic', onFailure: 'rollback' });
    expect(outcome.kind).toBe('unproven');
    expect(control.count('redeploy')).toBe(0);
  });

  test('compares nothing where the revision that replaced the measured one is replaced by an adopted one', async () => {
    const { fixture, deploy, control } = await holding();
    const patch = control.patchDeployment.bind(control);
    control.patchDeployment = async (id) => {
      control.scripts.push(goesLive(third), goesLive(second));
      await patch(id, { source_revision_config: { repo_ref: 'other' } });
      await fixture.passes(60_000);
      await patch(id, { source_revision_config: { repo_ref: 'main' } });
      throw serviceError('conflict', 'patch deployment', { status: 412 });
    };
    const outcome = await deploy({ smokeTests, verify: 'after-traffic' });
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r3', verdict: { tests: [{ attempts: 1 }] } });
    expect(outcome.notes.join()).toContain('has no live revision to be compared with');
  });

  test('measures the live one for half an hour at most: what it did not answer proves nothing', async () => {
    const { fixture, deploy } = await holding();
    fixture.agent.answers = [says('hello', 50_000)];
    const slow = ['one', 'two'].map((name) => ({
      ...hello,
      name,
      timeoutMs: 60_000,
      series: { ...series, atOnce: 1 },
    }));
    const outcome = await deploy({ smokeTests: slow, verify: 'after-traffic' });
    const verdicts = outcome.verdict?.tests.map(({ attempts, verdict }) => [attempts > 30, verdict.kind]);
    expect(verdicts).toEqual([
      [true, 'passed'],
      [false, 'unproven'],
    ]);
  });

  test('keeps nothing of a revision that is discarded because another test proves nothing', async () => {
    const { held, deploy, control } = await holding(...Array.from({ length: 31 }, () => says('hello')), wrong);
    held.answers.push(says('hello'));
    const outcome = await deploy({ smokeTests: [...smokeTests, { ...hello, name: 'another' }] });
    expect(outcome).toMatchObject({ kind: 'discarded', verdict: { tests: [{ verdict: { kind: 'passed' } }, {}] } });
    expect(control.count('keep baseline')).toBe(0);
  });

  test('proves nothing where the live one can not be measured, and rolls nothing back', async () => {
    const { fixture, deploy, control } = await holding();
    fixture.agent.answers = [unreachable];
    const outcome = await deploy({ smokeTests, verify: 'after-traffic', onFailure: 'rollback' });
    expect(outcome).toMatchObject({ kind: 'unproven', activeRevisionId: 'r2' });
    expect(control.count('redeploy')).toBe(0);
  });

  test('is a test of one answer for the first revision of a deployment', async () => {
    const fixture = new DeployFixture();
    fixture.control.lacks.clear();
    expect(await fixture.deploy({ smokeTests })).toMatchObject({
      kind: 'deployed',
      verdict: { kind: 'passed' },
      notes: expect.arrayContaining([expect.stringMatching(/no live revision to be compared with: one right answer/)]),
    });
    expect(fixture.agent.requested).toHaveLength(1);
  });
});
