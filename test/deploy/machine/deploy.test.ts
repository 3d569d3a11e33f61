import { describe, expect, test } from 'vitest';
import type { OutcomeKind } from '../../../src/contract/outcome-kinds.ts';
import { breaks, says } from '../smoke/agent-model.ts';
import { ends, goesLive, serviceError } from './control-model.ts';
import {
  first,
  github,
  hello,
  image,
  imaged,
  running,
  second,
  workflowOn,
  DeployFixture,
  type RunOfTest,
} from './deploy-fixture.ts';

describe('the outcome of a deploy run', () => {
  type Row = [string, OutcomeKind, boolean, () => Promise<DeployFixture> | DeployFixture, RunOfTest];
  test.each<Row>([
    ['a new deployment goes live', 'deployed', true, () => new DeployFixture(), {}],
    ['a new commit goes live', 'deployed', true, running, { workflow: workflowOn(second) }],
    ['this commit is live already', 'unchanged', true, running, {}],
    ['this commit is live, and answers', 'unchanged', true, running, { smokeTests: [hello] }],
    ['a dry run', 'planned', true, running, { mode: 'plan', workflow: workflowOn(second) }],
    ['without waiting', 'started', true, running, { wait: false, workflow: workflowOn(second) }],
    ['without waiting, and there is nothing to do', 'unchanged', true, running, { wait: false }],
    ['a change in place', 'deployed', true, running, { desired: { ...github, buildOnPush: true } }],
    [
      'a change that cannot be',
      'refused',
      false,
      running,
      { desired: { ...github, deploymentType: 'prod' as const, repoUrl: 'https://github.com/a/b' } },
    ],
    [
      'a dry run of a change that cannot be',
      'refused',
      false,
      running,
      { mode: 'plan', desired: { ...github, repoUrl: 'https://github.com/a/b' } },
    ],
    [
      'a deployment id that is not there',
      'refused',
      false,
      running,
      { desired: { ...github, deploymentId: 'unknown' } },
    ],
    [
      'a smoke run without a deployment',
      'refused',
      false,
      () => new DeployFixture(),
      { mode: 'smoke', smokeTests: [hello] },
    ],
    ['a smoke run of the live revision', 'unchanged', true, running, { mode: 'smoke', smokeTests: [hello] }],
    ['a smoke run without tests', 'unproven', false, running, { mode: 'smoke' }],
  ])('%s: %s', async (_, kind, passes, fixture, request) => {
    const outcome = await (await fixture()).deploy(request);
    expect(outcome).toMatchObject({ kind, passes });
    expect(outcome.reason).toMatch(/^\w.*[^.]\.$/);
    expect(outcome.advice?.endsWith('.') ?? false).toBe(!passes);
  });

  test.each<[string, OutcomeKind, boolean, Parameters<typeof ends>[0], RunOfTest]>([
    ['could not be built', 'failed', false, 'BUILD_FAILED', {}],
    ['could not be deployed', 'failed', false, 'DEPLOY_FAILED', { onFailure: 'rollback' }],
    ['was skipped for a newer one', 'superseded', false, 'SKIPPED', {}],
    ['was skipped, and that may be', 'superseded', true, 'SKIPPED', { onSuperseded: 'pass' }],
    ['was interrupted', 'interrupted', false, 'INTERRUPTED', {}],
    ['never ends', 'timed-out', false, 'DEPLOYING', {}],
    ['stays in an unknown state', 'timed-out', false, 'PONDERING', {}],
  ])('a revision that %s: %s', async (_, kind, passes, status, request) => {
    const fixture = await running();
    fixture.control.scripts.push(ends(status, second));
    const outcome = await fixture.deploy({ workflow: workflowOn(second), ...request });
    expect(outcome).toMatchObject({ kind, passes, changed: true, revisionId: 'r2', activeRevisionId: 'r1' });
    expect(outcome.rollout?.seen.map((each) => each.status)).toEqual(['BUILDING', status]);
  });

  test.each<[string, RunOfTest, string]>([
    ['whose commit is known is followed when it is run again', { workflow: workflowOn(second) }, 'not made twice'],
    ['whose commit is unknown is made again', { workflow: undefined }, 'makes another revision'],
  ])('a revision that never ends, %s', async (_, request, advice) => {
    const fixture = await running();
    fixture.control.scripts.push(ends('DEPLOYING', second));
    expect((await fixture.deploy(request)).advice).toContain(advice);
  });

  test.each<[string, OutcomeKind, boolean, 'wrong' | 'gone' | 'right']>([
    ['fails its smoke tests', 'broken', false, 'wrong'],
    ['cannot be reached', 'unproven', false, 'gone'],
    ['answers as it should', 'deployed', true, 'right'],
  ])('a live revision that %s: %s', async (_, kind, passes, how) => {
    const fixture = await running();
    const gone = serviceError('unreachable', 'stream run');
    fixture.agent.answers = [how === 'gone' ? gone : says(how === 'right' ? 'hello' : 'good bye')];
    const outcome = await fixture.deploy({ workflow: workflowOn(second), smokeTests: [hello] });
    expect(outcome).toMatchObject({ kind, passes, revisionId: 'r2', activeRevisionId: 'r2' });
    expect(fixture.addresses).toEqual(['https://agent.test']);
  });
});

test('reports events as they happen', async () => {
  const fixture = new DeployFixture();
  fixture.control.scripts.push(goesLive(first));
  const outcome = await fixture.deploy({ smokeTests: [hello] });
  expect(fixture.events.map(({ kind }) => kind)).toEqual([
    'looking',
    'looked',
    'planned',
    'noted',
    'started',
    'status',
    'status',
    'status',
    'rolled-out',
    'smoke-began',
    'smoke-attempt',
    'smoke-tested',
    'concluded',
  ]);
  expect(fixture.reported('status').map(({ status, sinceMs }) => [status, sinceMs])).toEqual([
    ['QUEUED', 0],
    ['BUILDING', 10_000],
    ['DEPLOYED', 30_000],
  ]);
  expect(outcome).toMatchObject({
    deploymentName: 'agent',
    deploymentId: 'd1',
    revisionId: 'r1',
    activeRevisionId: 'r1',
    deploymentUrl: 'https://agent.test',
    changed: true,
    reason: 'Revision r1 of commit aaaaaaa is live and passed 1 smoke test.',
    verdict: { kind: 'passed' },
  });
});

test('accepts an agent URL', async () => {
  const fixture = await running();
  const outcome = await fixture.deploy({ smokeTests: [hello], agentUrl: 'http://127.0.0.1:9' });
  expect(fixture.addresses).toEqual(['http://127.0.0.1:9']);
  expect(outcome.deploymentUrl).toBe('http://127.0.0.1:9');
});

test('reports heartbeats during a long silence', async () => {
  const fixture = await running();
  fixture.control.scripts.push([
    { after: 0, status: 'BUILDING' },
    { after: 100_000, status: 'DEPLOYED', commit: second },
  ]);
  await fixture.deploy({ workflow: workflowOn(second) });
  expect(fixture.reported('heartbeat').map(({ sinceMs }) => sinceMs)).toEqual([30_000, 60_000, 90_000]);
  expect(fixture.reported('heartbeat')[0]).toMatchObject({ status: 'BUILDING', leftMs: 570_000 });
});

test('reports heartbeats during a long Retry-After', async () => {
  const fixture = await running();
  fixture.control.scripts.push(goesLive(second));
  fixture.control.onWrite = () =>
    void fixture.control.fails(
      'revision',
      serviceError('busy', 'get revision', { status: 429, retryAfterMs: 100_000 }),
    );
  await fixture.deploy({ workflow: workflowOn(second) });
  expect(fixture.reported('heartbeat').map(({ sinceMs, status }) => [sinceMs, status])).toEqual([
    [30_000, 'not seen yet'],
    [60_000, 'not seen yet'],
    [90_000, 'not seen yet'],
  ]);
  expect(fixture.reported('status').map(({ status }) => status)).toEqual(['DEPLOYED']);
});

test('reports a built commit that differs from the requested one', async () => {
  const fixture = await running();
  fixture.control.scripts.push(goesLive('c'.repeat(40)));
  const outcome = await fixture.deploy({ workflow: workflowOn(second) });
  expect(outcome).toMatchObject({ kind: 'deployed', rollout: { builtCommit: 'c'.repeat(40) } });
  expect(outcome.reason).toContain('of commit ccccccc is live; bbbbbbb was requested');
});

test('reports a failure with its message, log tail and live revision', async () => {
  const fixture = await running();
  fixture.control.scripts.push(ends('BUILD_FAILED', second, 'npm ci ended with 1'));
  fixture.control.buildLines = [{ message: 'installing' }, { message: 'it broke' }];
  const outcome = await fixture.deploy({ workflow: workflowOn(second), onFailure: 'rollback' });
  expect(outcome.reason).toBe('Revision r2 ended BUILD_FAILED: npm ci ended with 1. Revision r1 still serves.');
  expect(outcome.logs?.map(({ message }) => message)).toEqual(['installing', 'it broke']);
  expect(outcome).not.toHaveProperty('rollback');
});

test('reports a failure without a live revision; notes missing logs once', async () => {
  const fixture = new DeployFixture();
  fixture.control.lacks.add('logs');
  fixture.control.scripts.push(ends('CREATE_FAILED'));
  const outcome = await fixture.deploy();
  expect(outcome.reason).toContain('Nothing is live yet.');
  expect(outcome.notes).toContain('this service does not offer build logs');
});

test('names in its outcome what the build warned of', async () => {
  const fixture = new DeployFixture();
  const buildWarnings = ['Submodules are not fetched.'];
  fixture.control.scripts.push(goesLive().map((step) => ({ ...step, buildWarnings })));
  expect((await fixture.deploy()).notes).toContain('the build warns: Submodules are not fetched.');
});

test.each(['deploy', 'plan', 'smoke'] as const)('%s names once what of the files is not done', async (mode) => {
  const fixture = await running();
  fixture.control.scripts.push(goesLive(second));
  const notes = ['3 checks of cases.yaml are not run: javascript'];
  const outcome = await fixture.deploy({ mode, notes, workflow: workflowOn(second) });
  expect(outcome.notes.filter((note) => note === notes[0])).toHaveLength(1);
  expect((await fixture.deploy({ mode: 'delete', dryRun: true, notes })).notes).toEqual([]);
});

test('names the revision that superseded the requested one', async () => {
  const fixture = await running();
  fixture.control.scripts.push([
    { after: 0, status: 'QUEUED' },
    { after: 12_000, status: 'SKIPPED' },
  ]);
  fixture.clock.after(10_000, () => fixture.control.push(goesLive('c'.repeat(40))));
  const outcome = await fixture.deploy({ workflow: workflowOn(second) });
  expect(outcome).toMatchObject({ kind: 'superseded', rollout: { by: 'r3' } });
  expect(outcome.reason).toContain('r3');
});

test('follows the revision of the same commit that superseded the requested one', async () => {
  const fixture = await running();
  fixture.control.scripts.push([
    { after: 0, status: 'QUEUED' },
    { after: 12_000, status: 'SKIPPED' },
  ]);
  fixture.clock.after(10_000, () => fixture.control.push(goesLive(second)));
  const outcome = await fixture.deploy({ workflow: workflowOn(second), smokeTests: [hello] });
  expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r3', activeRevisionId: 'r3' });
  expect(fixture.reported('started')).toMatchObject([
    { revisionId: 'r2', how: 'patched' },
    { revisionId: 'r3', how: 'adopted' },
  ]);
});

test('reports a finished revision that was overtaken as superseded', async () => {
  const fixture = await running();
  fixture.control.scripts.push([
    { after: 0, status: 'BUILDING' },
    { after: 21_000, status: 'DEPLOYED', commit: second, lags: true },
  ]);
  fixture.clock.after(10_000, () => fixture.control.push([{ after: 0, status: 'DEPLOYED' }]));
  expect(await fixture.deploy({ workflow: workflowOn(second) })).toMatchObject({
    kind: 'superseded',
    rollout: { by: 'r3' },
  });
});

test('a finished revision is not live before it serves', async () => {
  const fixture = await running();
  fixture.control.scripts.push([
    { after: 0, status: 'DEPLOYED', commit: second, lags: true },
    { after: 20_000, status: 'DEPLOYED', commit: second },
  ]);
  await fixture.deploy({ workflow: workflowOn(second) });
  expect(fixture.reported('rolled-out')[0]?.rollout).toMatchObject({ kind: 'live' });
  expect(fixture.control.count('revision')).toBeGreaterThan(4);
});

describe('an image', () => {
  test('goes live, and once more changes nothing', async () => {
    const fixture = new DeployFixture();
    expect(await fixture.deploy({ desired: image })).toMatchObject({ kind: 'deployed', revisionId: 'r1' });
    expect(await fixture.deploy({ desired: image })).toMatchObject({ kind: 'unchanged', changed: false });
    const next = { ...image, imageUri: 'registry.test/agent:2' };
    expect(await fixture.deploy({ desired: next })).toMatchObject({ kind: 'deployed', revisionId: 'r2' });
    expect(fixture.control.sent[1]).toEqual({ source_revision_config: { image_uri: 'registry.test/agent:2' } });
  });
});

test('throws internal errors instead of reporting an outcome', async () => {
  const fixture = await running();
  fixture.control.getRevision = async () => {
    throw new TypeError('ours');
  };
  await expect(fixture.deploy()).rejects.toThrow(TypeError);
});

test('masks every secret before anything is reported', async () => {
  const fixture = new DeployFixture();
  fixture.control.has(imaged, goesLive(second));
  await fixture.passes(60_000);
  fixture.control.scripts.push(ends('DEPLOY_FAILED', undefined, 'TOKEN=canary-of-the-service was refused'));
  fixture.control.buildLines = [{ message: 'env canary-requested', secret: 'canary-requested' }];
  const outcome = await fixture.deploy({
    desired: { ...image, secrets: [{ name: 'NEW', value: 'canary-requested' }] },
  });
  expect(outcome.kind).toBe('failed');
  expect(fixture.masked.toSorted()).toEqual(['canary-of-the-service', 'canary-requested']);
  expect(JSON.stringify([fixture.events, outcome])).not.toContain('canary');
  expect(outcome.reason).toContain('TOKEN=*** was refused');
});

test('does not report a key that the agent repeats', async () => {
  const fixture = await running();
  fixture.agent.answers = [says('x-api-key: canary-key'), breaks('canary-key')];
  const outcome = await fixture.deploy({ smokeTests: [hello], credentials: ['canary-key'] });
  expect(outcome.kind).toBe('broken');
  expect(fixture.masked).toContain('canary-key');
  expect(JSON.stringify([fixture.events, outcome])).not.toContain('canary-key');
});

test.each([
  [[{ name: 'TOKEN', value: '' }], true],
  [[{ name: 'TOKEN', value: 'shown-value' }], false],
])('notes whether a log may contain secrets that the service hides: %j, %s', async (secrets, isNoted) => {
  const fixture = new DeployFixture();
  fixture.control.has(imaged, goesLive(second));
  await fixture.passes(60_000);
  const { service } = fixture.control;
  if (service.deployment) service.deployment = { ...service.deployment, secrets };
  fixture.control.scripts.push(ends('DEPLOY_FAILED'));
  fixture.control.buildLines = [{ message: 'a line' }];
  const outcome = await fixture.deploy({ desired: { ...image, imageUri: 'registry.test/agent:2' } });
  expect(outcome.logs).not.toEqual([]);
  expect(outcome.notes.join().includes('the service hides the values of secrets')).toBe(isNoted);
});

test('hides secrets in the error of an unreadable log', async () => {
  const fixture = new DeployFixture();
  fixture.control.has(imaged, goesLive(second));
  await fixture.passes(60_000);
  fixture.control.scripts.push(ends('DEPLOY_FAILED'));
  fixture.control.fails(
    'build logs',
    serviceError('rejected', 'read build logs', { detail: 'no canary-of-the-service' }),
  );
  const outcome = await fixture.deploy({ desired: { ...image, imageUri: 'registry.test/agent:2' } });
  expect(outcome.notes.join()).toContain('the build log could not be read');
  expect(JSON.stringify([fixture.events, outcome])).not.toContain('canary');
});

test('reports the successor that it follows by what was seen of that one', async () => {
  const fixture = await running();
  fixture.control.scripts.push([
    { after: 0, status: 'BUILDING', commit: second },
    { after: 10_000, status: 'SKIPPED', commit: second },
  ]);
  const next = [
    { after: 0, status: 'QUEUED', commit: second },
    { after: 60_000, status: 'DEPLOYED', commit: second },
  ];
  fixture.clock.after(9_000, () => fixture.control.push(next));
  const outcome = await fixture.deploy({
    workflow: workflowOn(second),
    emit: (event) => {
      if (event.kind === 'started' && event.how === 'adopted') fixture.cancelled.abort(new Error('cancelled'));
    },
  });
  expect(outcome).toMatchObject({ kind: 'interrupted', revisionId: 'r3' });
  expect(outcome).not.toHaveProperty('rollout');
});
