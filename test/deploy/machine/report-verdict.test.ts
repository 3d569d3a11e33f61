import { describe, expect, test } from 'vitest';
import { outcomeLines } from '../../../src/deploy/words/event-lines.ts';
import { summary } from '../../../src/deploy/words/summary.ts';
import { says } from '../smoke/agent-model.ts';
import { serviceError } from './control-model.ts';
import { hello, running, second, workflowOn, type DeployFixture } from './deploy-fixture.ts';

const runUrl = 'https://github.com/acme/agent/actions/runs/900';
const tested = { workflow: { ...workflowOn(second), runUrl }, smokeTests: [hello], onFailure: 'rollback' as const };

/** r1 is live; the service takes verdicts. */
const reporting = async (...answers: string[]): Promise<DeployFixture> => {
  const fixture = await running();
  fixture.control.lacks.delete('verdicts');
  fixture.agent.answers = answers.map(says);
  return fixture;
};
const reported = ({ control }: DeployFixture) =>
  control.verdicts.map(({ revisionId, report: { kind, reporter } }) => [revisionId, kind, reporter]);

describe('a service that takes verdicts', () => {
  test('gets the verdict on the new revision, with the page of the run', async () => {
    const fixture = await reporting('hello');
    expect((await fixture.deploy(tested)).kind).toBe('deployed');
    expect(reported(fixture)).toEqual([['r2', 'passed', 'action']]);
    expect(fixture.control.verdicts[0]).toMatchObject({
      key: expect.stringMatching(/^[0-9a-f-]{36}$/),
      report: { details_url: runUrl, tests: [{ name: 'says hello', kind: 'passed', attempts: 1 }] },
    });
  });

  test.each([
    ['the command line', {}, 'cli'],
    ['the App', { reporter: 'app' as const }, 'app'],
  ])('is told that %s reports, outside of a workflow', async (_, by, reporter) => {
    const fixture = await reporting('hello');
    await fixture.deploy({ ...tested, workflow: undefined, ...by });
    expect(reported(fixture)).toEqual([['r2', 'passed', reporter]]);
  });

  test('gets those on a failed revision and on the one that it is rolled back to, without secrets', async () => {
    const fixture = await reporting('canary-of-the-service', 'canary-of-the-service', 'hello');
    expect((await fixture.deploy(tested)).kind).toBe('rolled-back');
    expect(reported(fixture)).toEqual([
      ['r2', 'failed', 'action'],
      ['r3', 'passed', 'action'],
    ]);
    expect(JSON.stringify(fixture.control.verdicts)).not.toContain('canary-of-the-service');
  });

  test('gets it while the rollback is under way', async () => {
    const fixture = await reporting('wrong', 'wrong', 'hello');
    const { control } = fixture;
    const { promise: rolledBack, resolve } = Promise.withResolvers<void>();
    const report = control.reportVerdict.bind(control);
    control.reportVerdict = (...given) => rolledBack.then(() => report(...given));
    control.onWrite = () => control.calls.includes('redeploy') && resolve();
    expect((await fixture.deploy(tested)).kind).toBe('rolled-back');
    expect(reported(fixture).map(([revision]) => revision)).toEqual(['r2', 'r3']);
  });

  test('gets that on the live revision where only the tests are run', async () => {
    const fixture = await reporting('hello');
    await fixture.deploy({ ...tested, mode: 'smoke', workflow: undefined });
    expect(reported(fixture)).toEqual([['r1', 'passed', 'cli']]);
  });

  test('gets nothing where there are no tests', async () => {
    const fixture = await reporting();
    await fixture.deploy({ ...tested, smokeTests: [] });
    expect(fixture.control.verdicts).toEqual([]);
    expect(fixture.control.count('report verdict')).toBe(0);
  });

  test.each(['features', 'report verdict'])('changes no outcome where %s fails', async (operation) => {
    const fixture = await reporting('hello');
    fixture.control.fails(operation, serviceError('busy', operation, { status: 503 }), { times: 2 });
    const outcome = await fixture.deploy(tested);
    expect(outcome).toMatchObject({ kind: 'deployed', passes: true });
    expect(outcome.notes.join()).toMatch(/the verdict of the smoke tests could not be reported to the service: .*503/);
  });
});

describe('a revision that another one replaces during its tests', () => {
  const answering = async (answer: string): Promise<DeployFixture> => {
    const fixture = await reporting();
    fixture.agent.answers = [says(answer, 5_000)];
    return fixture;
  };
  const replacedAt = ({ clock, control }: DeployFixture, ms: number) =>
    clock.after(ms, () => control.push([{ after: 0, status: 'DEPLOYED' }]));

  test.each(['hello', 'wrong'])('gets no verdict and no rollback by the answer %s', async (answer) => {
    const fixture = await answering(answer);
    replacedAt(fixture, 33_000);
    const outcome = await fixture.deploy(tested);
    expect(fixture.agent.requested.length).toBeGreaterThan(0);
    expect(outcome).toMatchObject({
      kind: 'superseded',
      passes: false,
      reason: 'Revision r2 was live, but revision r3 replaced it before its smoke tests ended.',
      verdict: { kind: 'unproven', tests: [{ verdict: { because: 'replaced' } }] },
    });
    expect(fixture.control.verdicts).toEqual([]);
    expect(fixture.control.count('redeploy')).toBe(0);
  });

  test('passes where that is expected', async () => {
    const fixture = await answering('hello');
    replacedAt(fixture, 33_000);
    expect((await fixture.deploy({ ...tested, onSuperseded: 'pass' })).passes).toBe(true);
  });

  test('is unproven where only the tests are run', async () => {
    const fixture = await answering('hello');
    replacedAt(fixture, 1_000);
    const outcome = await fixture.deploy({ ...tested, mode: 'smoke', workflow: undefined });
    expect(outcome).toMatchObject({ kind: 'unproven', activeRevisionId: 'r2' });
    expect(outcome.advice).toContain('Run the tests again');
    expect(fixture.control.verdicts).toEqual([]);
  });
});

test('a revision of which it is unknown whether it still serves gets no verdict', async () => {
  const fixture = await reporting('hello');
  const { control, agent } = fixture;
  const read = control.getDeployment.bind(control);
  control.getDeployment = async (...given) => {
    if (agent.requested.length > 0) throw serviceError('busy', 'get deployment', { status: 503 });
    return read(...given);
  };
  const outcome = await fixture.deploy(tested);
  expect(outcome).toMatchObject({ kind: 'deployed', verdict: { kind: 'passed' } });
  expect(outcome.notes.join()).toMatch(/^the verdict of the smoke tests is not reported to the service: .*503/);
  expect(control.verdicts).toEqual([]);
});

test('a service without verdicts gets none', async () => {
  const fixture = await reporting('hello');
  fixture.control.lacks.add('verdicts');
  const outcome = await fixture.deploy(tested);
  expect(outcome).toMatchObject({ kind: 'deployed', notes: [] });
  expect(fixture.control.count('report verdict')).toBe(0);
});

describe('the page of the revision in the console', () => {
  const page = 'https://control.test/console/deployments/d1/revisions/r2';

  test('is in the outcome, the summary and the log if the service has a console', async () => {
    const fixture = await running();
    fixture.control.consoleUrl = 'https://control.test/console';
    const outcome = await fixture.deploy({ workflow: workflowOn(second) });
    expect(outcome).toMatchObject({ kind: 'deployed', consolePage: page });
    expect(summary(outcome)).toContain(`\n[Open in the console](${page})\n`);
    expect(outcomeLines(outcome)).toContain(`Console: ${page}`);
  });

  test('is missing where the service does not respond', async () => {
    const fixture = await running();
    fixture.control.fails('features', serviceError('unreachable', 'features'));
    const outcome = await fixture.deploy({ workflow: workflowOn(second) });
    expect(outcome).toMatchObject({ kind: 'deployed', passes: true, notes: [] });
    expect(outcome).not.toHaveProperty('consolePage');
  });
});
