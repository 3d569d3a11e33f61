import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import type { StepResult } from '../../src/demo/runner.ts';
import { openJourneyFixture, type JourneyFixture } from './fixture.ts';

let fixture: JourneyFixture;
beforeAll(async () => {
  fixture = await openJourneyFixture();
});
afterAll(() => fixture?.close());

/** One test of the flaky agent. */
const refunds = (more: object = {}, input = 'How long do I have for a refund?') =>
  JSON.stringify([
    {
      name: 'knows the refund policy',
      assistant: 'talk',
      input: { input },
      expect: { values: [{ path: '$.said', equals: '30 days' }] },
      ...more,
    },
  ]);

describe('an agent that is right in 90 % of its answers', () => {
  let repository: Repository;
  let id = '';
  /** Every revision that may ever have served. */
  const promoted = new Set<string | undefined>();

  // One after another, so that the answers come in the same order each time.
  const smokeTests = refunds({ 'pass-rate': 0.9, 'tries-at-once': 1 });

  /** Deploys the agent with a rate and a seed: its environment makes the revision, nothing is built again. */
  const deploy = (rate: number, seed: number, more: Record<string, string> = {}): Promise<StepResult> =>
    fixture.step(repository, {
      inputs: { 'smoke-tests': smokeTests, secrets: 'PASS_RATE\nSEED', rebuild: 'never', ...more },
      env: { PASS_RATE: String(rate), SEED: String(seed) },
    });

  test('deploys 20 times without a false alarm', { timeout: 900_000 }, async () => {
    repository = await fixture.repository('flaky');
    const outcomes: (string | undefined)[] = [];
    for (let seed = 1; seed <= 20; seed += 1) {
      const { outputs, log } = await deploy(0.9, seed, { 'on-failure': 'rollback' });
      id = outputs['deployment-id'] ?? '';
      promoted.add(outputs['revision-id']);
      outcomes.push(`${outputs['outcome']} ${outputs['smoke-verdict']}`);
      expect(log).toContain(`Revision ${outputs['revision-id']} is promoted: Its smoke tests passed.`);
    }
    expect(outcomes).toEqual(Array.from({ length: 20 }, () => 'deployed passed'));
    expect(promoted.size).toBe(20);
  });

  test('is discarded before traffic once it is right in 60 % only', async () => {
    const { exitCode, outputs, summary } = await deploy(0.6, 1);
    expect({ exitCode, outputs }).toMatchObject({
      exitCode: 1,
      outputs: { outcome: 'discarded', 'smoke-verdict': 'failed', 'active-revision-id': [...promoted].at(-1) },
    });
    expect(summary).toContain('### Smoke tests before traffic: failed');
    const { status, status_message } = await fixture.control.getRevision(id, outputs['revision-id'] ?? '');
    expect([status, status_message]).toEqual([
      'INTERRUPTED',
      expect.stringMatching(
        /^It was discarded before it got traffic: It failed its smoke tests: knows the refund policy/,
      ),
    ]);
  });

  test('is discarded if nothing is proven, unless it is to be promoted then', async () => {
    const undecided = smokeTests.replace('"pass-rate":0.9', '"pass-rate":0.9,"max-tries":16');
    const kept = await deploy(0.75, 2, { 'smoke-tests': undecided, 'on-failure': 'rollback' });
    expect(kept).toMatchObject({
      exitCode: 1,
      outputs: { outcome: 'discarded', 'smoke-verdict': 'unproven', 'rolled-back-to': '' },
    });
    expect(kept.outputs['active-revision-id']).not.toBe(kept.outputs['revision-id']);
    const promoting = {
      'smoke-tests': undecided,
      'on-failure': 'rollback',
      'on-unproven': 'promote',
      rebuild: 'always',
    };
    const { exitCode, outputs } = await deploy(0.75, 2, promoting);
    expect({ exitCode, outputs }).toMatchObject({
      exitCode: 1,
      outputs: {
        outcome: 'unproven',
        'smoke-verdict': 'unproven',
        'active-revision-id': outputs['revision-id'],
        'rolled-back-to': '',
      },
    });
  });
});

test('a bad candidate serves none of the requests that are sent meanwhile', async () => {
  const repository = await fixture.repository('talker');
  const smokeTests = (said: string) =>
    JSON.stringify([
      {
        name: 'repeats its input',
        assistant: 'talk',
        input: { input: 'Ada' },
        expect: { values: [{ path: '$.said', equals: said }] },
        attempts: 2,
      },
    ]);
  const first = await fixture.step(repository, { inputs: { 'smoke-tests': smokeTests('first Ada') } });
  expect(first.outputs['outcome']).toBe('deployed');
  await repository.edit('graph.ts', "'first'", "'bad'");
  await repository.commit('Answer badly');

  const load = { going: true, said: new Map<string, number>() };
  const senders = Array.from({ length: 4 }, async () => {
    while (load.going) {
      const { said } = await fixture.ask(first.outputs['deployment-url'], 'you');
      load.said.set(said, (load.said.get(said) ?? 0) + 1);
    }
  });
  const bad = await fixture.step(repository, { inputs: { 'smoke-tests': smokeTests('first Ada') } });
  load.going = false;
  await Promise.all(senders);
  expect(bad).toMatchObject({ exitCode: 1, outputs: { outcome: 'discarded' } });
  expect(bad.outputs['reason']).toContain('"bad Ada"');
  expect([...load.said.keys()]).toEqual(['first you']);
  expect(load.said.get('first you')).toBeGreaterThan(20);
});

describe('while a revision is tested', () => {
  let repository: Repository;
  let id = '';
  let live = '';
  beforeAll(async () => {
    repository = await fixture.repository('flaky', 'careful');
    const { outputs } = await fixture.step(repository, { inputs: { 'smoke-tests': refunds() } });
    [id, live] = [outputs['deployment-id'] ?? '', outputs['active-revision-id'] ?? ''];
  });

  /** Deploys the same again, and acts when the revision is held. */
  async function deploy(smokeTests: string, whenHeld: () => void, cancel?: AbortSignal): Promise<StepResult> {
    return fixture.step(repository, {
      inputs: { 'smoke-tests': smokeTests, rebuild: 'always' },
      onLine: (line) => {
        if (line.includes('is healthy and held')) whenHeld();
      },
      ...(cancel ? { cancel } : {}),
    });
  }

  test('a cancelled step discards it', async () => {
    const cancel = new AbortController();
    const { outputs } = await deploy(refunds({}, 'slowly'), () => cancel.abort(), cancel.signal);
    expect(outputs).toMatchObject({
      outcome: 'interrupted',
      reason: `This step was ended, and revision ${outputs['revision-id']} with it: it was not tested, and got no traffic.`,
    });
    const { status, status_message } = await fixture.control.getRevision(id, outputs['revision-id'] ?? '');
    expect([status, status_message]).toEqual([
      'INTERRUPTED',
      'It was discarded before it got traffic: The run that tested it was cancelled.',
    ]);
    expect((await fixture.control.getDeployment(id)).active_revision_id).toBe(live);
  });

  test('the service may be killed: the same revision is tested after its start', async () => {
    let restarted: Promise<void> | undefined;
    const step = await deploy(refunds({ attempts: 20 }, 'in a moment'), () => {
      restarted ??= fixture.kill().then(() => fixture.startAgain());
    });
    await restarted;
    expect(step.log).toMatch(/knows the refund policy: attempt 1 was not answered/);
    expect(step).toMatchObject({ exitCode: 0, outputs: { outcome: 'deployed', 'smoke-verdict': 'passed' } });
    const [newest] = await fixture.revisions(id);
    expect([newest?.id, newest?.hold?.decision]).toEqual([step.outputs['revision-id'], 'promoted']);
  });
});
