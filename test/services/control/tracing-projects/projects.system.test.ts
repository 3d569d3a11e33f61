import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TracedRun } from '../../../../src/contract/control/tracing-project.ts';
import { createTracing } from '../../../../src/services/control/tracing-projects/tracing.ts';
import { fromImage, unknownId, refusalOf, openServiceFixture, testTracing } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

const at = (seconds: number): string => new Date(Date.UTC(2030, 0, 1, 0, 0, seconds)).toISOString();

const run = (changes: Partial<TracedRun> = {}): TracedRun => ({
  id: randomUUID(),
  thread_id: randomUUID(),
  assistant_id: 'helper',
  graph_id: 'agent',
  revision_id: randomUUID(),
  status: 'success',
  error: null,
  tokens: { input: 10, output: 5, total: 15 },
  created_at: at(1),
  started_at: at(2),
  ended_at: at(3),
  ...changes,
});

/** What a run of an agent of an earlier version has. */
const withoutDetail = { input: null, output: null, steps: [], is_cut: false };
const withoutPreviews = { trigger: null, input_preview: null, output_preview: null };

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
    fixture.rollouts.fate = 'held';
  });
  afterAll(() => fixture.close());

  /** Reports runs as an agent does. */
  async function report(projectId: string, runs: unknown, token = testTracing.tokenOf(projectId)): Promise<unknown> {
    const answer = await fetch(`${fixture.baseUrl}/v1/projects/${projectId}/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ runs }),
    });
    const body: unknown = await answer.json();
    if (answer.ok) return body;
    throw Object.assign(new Error(JSON.stringify(body)), { status: answer.status });
  }
  const statusOf = (reported: Promise<unknown>): Promise<unknown> =>
    reported.then(
      () => 200,
      (error: unknown) => (typeof error === 'object' && error !== null ? Reflect.get(error, 'status') : undefined),
    );
  async function project() {
    const deployment = await fixture.control.createDeployment(fromImage());
    return { deployment, id: deployment.tracer_session_id ?? '' };
  }

  test(
    'a deployment has a project of its name, and returns its id',
    { meta: { claims: ['control.create.tracing-project'] } },
    async () => {
      const { deployment, id } = await project();
      expect(await fixture.control.getProject(id)).toEqual({
        id,
        name: deployment.name,
        deployment_id: deployment.id,
        created_at: expect.any(String),
        run_count: 0,
        last_run_at: null,
      });
      expect(await fixture.control.getDeployment(deployment.id)).toMatchObject({ tracer_session_id: id });
    },
  );

  test('lists reported runs unchanged, the latest to end first', async () => {
    const { id } = await project();
    const failed = run({
      status: 'error',
      error: { error: 'TypeError', message: 'no model' },
      tokens: null,
      ended_at: at(9),
    });
    const never = run({ status: 'interrupted', started_at: null, thread_id: null, revision_id: null, ended_at: at(4) });
    const well = run({ ended_at: at(7) });
    expect(await report(id, [failed, never])).toEqual({ taken: 2 });
    expect(await report(id, [well])).toEqual({ taken: 1 });
    const { resources, offset } = await fixture.control.listProjectRuns(id, {});
    expect([resources, offset]).toEqual([[failed, well, never].map((each) => ({ ...each, ...withoutPreviews })), 3]);
    expect(await fixture.control.getProjectRun(id, failed.id)).toEqual({
      ...failed,
      ...withoutDetail,
      ...withoutPreviews,
    });
    expect(await fixture.control.getProject(id)).toMatchObject({ run_count: 3, last_run_at: at(9) });
  });

  test('lists what started a run, and the start of its input and output', async () => {
    const { id } = await project();
    const said = (type: string, content: unknown) => ({ type, content });
    await report(id, [
      run({
        trigger: 'cron',
        status: 'interrupted',
        input: { messages: [said('human', 'Refund\norder 42')] },
        output: { messages: [said('ai', 'Wait')], __interrupt__: [{ value: 'Approve the refund?', id: 'a' }] },
      }),
    ]);
    const { resources } = await fixture.control.listProjectRuns(id, { status: 'interrupted' });
    expect(resources).toEqual([
      expect.objectContaining({
        trigger: 'cron',
        input_preview: 'Refund order 42',
        output_preview: 'Approve the refund?',
      }),
    ]);
    expect(resources[0]).not.toHaveProperty('input');
  });

  test('a run that is reported again, or concurrently, is stored once and unchanged', async () => {
    const { id } = await project();
    const reported = run();
    const ends = await Promise.all(Array.from({ length: 8 }, () => report(id, [reported, run()])));
    expect(
      ends.map((end) => Reflect.get(Object(end), 'taken')).reduce((sum: number, taken: number) => sum + taken, 0),
    ).toBe(9);
    expect(await report(id, [{ ...reported, status: 'error' }])).toEqual({ taken: 0 });
    expect(await fixture.control.getProjectRun(id, reported.id)).toMatchObject(reported);
  });

  test('lists runs in pages, filtered by status and assistant', async () => {
    const { id } = await project();
    const runs = Array.from({ length: 5 }, (_, index) =>
      run({ ended_at: at(index), status: index % 2 === 0 ? 'success' : 'error', assistant_id: index < 3 ? 'a' : 'b' }),
    );
    await report(id, runs);
    const ids = async (query: object) =>
      (await fixture.control.listProjectRuns(id, query)).resources.map((each) => each.id);
    const of = (...which: number[]) => which.map((index) => runs[index]?.id);
    expect(await ids({ limit: 2 })).toEqual(of(4, 3));
    expect(await ids({ limit: 2, offset: 4 })).toEqual(of(0));
    expect(await ids({ status: 'error' })).toEqual(of(3, 1));
    expect(await ids({ status: 'error,timeout' })).toEqual(of(3, 1));
    expect(await ids({ assistant_id: 'b' })).toEqual(of(4, 3));
    expect(await ids({ assistant_id: 'b', status: 'success' })).toEqual(of(4));
  });

  test('finds runs by thread, revision, time of the end, and text of the error', async () => {
    const { id } = await project();
    const error = { error: 'TypeError', message: 'No MODEL 100%' };
    const runs = [run({ ended_at: at(1) }), run({ ended_at: at(2), status: 'error', error }), run({ ended_at: at(3) })];
    await report(id, runs);
    const found = async (query: object) =>
      (await fixture.control.listProjectRuns(id, query)).resources.map((each) =>
        runs.findIndex((one) => one.id === each.id),
      );
    expect(await found({ thread_id: runs[2]?.thread_id })).toEqual([2]);
    expect(await found({ revision_id: runs[0]?.revision_id })).toEqual([0]);
    expect(await found({ from: at(2) })).toEqual([2, 1]);
    expect(await found({ until: at(2) })).toEqual([0]);
    expect(await found({ from: at(2), until: at(3), status: 'error' })).toEqual([1]);
    for (const query of ['model 100%', 'typeerror']) expect(await found({ query })).toEqual([1]);
    for (const query of ['_', 'nothing', 'message']) expect(await found({ query })).toEqual([]);
  });

  test('returns input, output and steps of one run, and none of them in lists', async () => {
    const { id } = await project();
    const step = {
      id: randomUUID(),
      name: 'answer',
      path: ['outer'],
      started_at: at(2),
      ended_at: at(3),
      input: { text: 'hi' },
      output: null,
      error: 'TypeError: no model',
      is_cut: false,
    };
    const whole = run({ input: { text: 'hi' }, output: ['yes', 1], steps: [step], is_cut: true });
    await report(id, [whole]);
    const previews = { trigger: null, input_preview: 'hi', output_preview: '["yes",1]' };
    expect(await fixture.control.getProjectRun(id, whole.id)).toEqual({ ...whole, ...previews });
    const { input: _, output: __, steps: ___, is_cut: ____, ...listed } = whole;
    expect((await fixture.control.listProjectRuns(id, {})).resources).toEqual([{ ...listed, ...previews }]);
  });

  test('masks the secrets of the agent in what its runs hold, also at the end of a cut text', async () => {
    const secret = 'sk-0123456789abcdef';
    const deployment = await fixture.control.createDeployment(
      fromImage({ secrets: [{ name: 'MODEL_KEY', value: secret }] }),
    );
    const id = deployment.tracer_session_id ?? '';
    const start = `${'x'.repeat(20)}${secret.slice(0, 12)} [...]`;
    const password = (await fixture.store.deployment(deployment.id))?.database_password ?? '';
    const agentToken = fixture.agentTokens.issue(deployment.id);
    const ofAgent = [`postgres://role:${password}@localhost/agent`, testTracing.tokenOf(id), agentToken];
    const echoed = { [secret]: [`key ${secret}`, start, ...ofAgent] };
    const step = { id: 'a', name: 'n', path: [], started_at: at(2), ended_at: null, is_cut: true };
    const errors = [`no ${secret}`, start, ofAgent.join(' ')];
    const steps = errors.map((error) => ({ ...step, input: echoed, output: echoed, error }));
    const failed = { error: secret, message: start };
    const leaking = run({ input: echoed, output: echoed, steps, status: 'error', error: failed });
    await report(id, [leaking]);
    const kept = JSON.stringify(await fixture.control.getProjectRun(id, leaking.id));
    for (const leaked of [secret.slice(0, 12), password, testTracing.tokenOf(id), agentToken])
      expect(kept).not.toContain(leaked);
    // 6 in each of 8 values and 2 previews, 1 + 1 + 3 in the errors of the steps, 2 in that of the run.
    expect(kept.match(/\*\*\*/g)).toHaveLength(67);
  });

  test('removes the details of all but the newest runs of a project', async () => {
    const { id } = await project();
    const runs = [1, 2, 3].map((second) => run({ ended_at: at(second), input: 1, output: 2, steps: [] }));
    await report(id, runs);
    const keep = (steps: number, bytes: number) =>
      fixture.store.deleteOldRuns(Number.MAX_SAFE_INTEGER / 1000, { steps, bytes });
    const inputs = () =>
      Promise.all(runs.map(async (each) => (await fixture.control.getProjectRun(id, each.id)).input));
    expect(await keep(2, 1_000)).toBe(0);
    expect(await inputs()).toEqual([null, 1, 1]);
    await keep(2, 50);
    expect(await inputs()).toEqual([null, null, 1]);
  });

  test.each([
    { limit: 0 },
    { limit: 101 },
    { offset: -1 },
    { status: 'gone' },
    { thread_id: 'none' },
    { from: 'yesterday' },
    { query: '' },
  ])('runs by %j are a 422', async (query) => {
    const { id } = await project();
    expect(await refusalOf(fixture.control.listProjectRuns(id, query))).toMatchObject({ status: 422 });
  });

  test('lists the projects of the tenant newest first, and by name', async () => {
    const [first, second] = [await project(), await project()];
    const { resources } = await fixture.control.listProjects({ limit: 2 });
    expect(resources.map(({ id }) => id)).toEqual([second.id, first.id]);
    const { name } = first.deployment;
    expect((await fixture.control.listProjects({ name })).resources.map(({ id }) => id)).toEqual([first.id]);
    expect((await fixture.control.listProjects({ name_contains: name.slice(1) })).resources.length).toBeGreaterThan(0);
    expect((await fixture.stranger.listProjects({})).resources).toEqual([]);
    for (const call of [
      () => fixture.stranger.getProject(first.id),
      () => fixture.stranger.listProjectRuns(first.id, {}),
      () => fixture.stranger.getProjectRun(first.id, unknownId()),
      () => fixture.stranger.deleteProject(first.id),
      () => fixture.control.getProject(unknownId()),
      () => fixture.control.getProjectRun(first.id, unknownId()),
    ]) {
      expect(await refusalOf(call())).toMatchObject({ status: 404 });
    }
  });

  test('a token gives access to its own project only', async () => {
    const [own, other] = [await project(), await project()];
    const token = testTracing.tokenOf(own.id);
    expect(await statusOf(report(other.id, [run()], token))).toBe(401);
    expect(await statusOf(report(own.id, [run()], `${token}x`))).toBe(401);
    expect(await statusOf(report(own.id, [run()], createTracing(Buffer.alloc(32, 6)).tokenOf(own.id)))).toBe(401);
    expect(await statusOf(report('none', [run()], token))).toBe(401);
    expect(await statusOf(report(own.id, [run()], fixture.apiKey))).toBe(401);
    expect(await statusOf(report(own.id, [run()], token))).toBe(200);
  });

  test.each([
    ['no runs', []],
    ['more than a hundred', Array.from({ length: 101 }, () => run())],
    ['one without an id', [{ ...run(), id: undefined }]],
    ['one that is still running', [{ ...run(), status: 'running' }]],
    ['invalid tokens', [run({ tokens: { input: -1, output: 0, total: 0 } })]],
    ['an invalid time', [run({ ended_at: 'yesterday' })]],
    ['a message that is too long', [run({ error: { error: 'E', message: 'x'.repeat(10_001) } })]],
  ])('%s is a 422, and none of it is stored', async (_, runs) => {
    const { id } = await project();
    expect(await statusOf(report(id, runs))).toBe(422);
    expect(await fixture.control.getProject(id)).toMatchObject({ run_count: 0 });
  });

  test('a project stays with its deployment, outlives it, and can then be deleted', async () => {
    fixture.rollouts.fate = 'live';
    const { deployment, id } = await project();
    await report(id, [run()]);
    expect(await refusalOf(fixture.control.deleteProject(id))).toMatchObject({
      status: 409,
      detail: expect.stringContaining(deployment.id),
    });
    await fixture.control.deleteDeployment(deployment.id);
    await fixture.rollouts.settled();
    // The secrets of its deployment are unknown now, so nothing could be masked.
    expect(await statusOf(report(id, [run()]))).toBe(404);
    expect(await fixture.control.getProject(id)).toMatchObject({ deployment_id: null, run_count: 1 });
    expect(await refusalOf(fixture.control.createDeployment(fromImage({ name: deployment.name })))).toMatchObject({
      status: 409,
      detail: expect.stringContaining(id),
    });
    await fixture.control.deleteProject(id);
    expect(await refusalOf(fixture.control.getProject(id))).toMatchObject({ status: 404 });
    expect(await statusOf(report(id, [run()]))).toBe(404);
    await fixture.control.createDeployment(fromImage({ name: deployment.name }));
    fixture.rollouts.fate = 'held';
  });

  test('is deleted with its deployment on request', async () => {
    fixture.rollouts.fate = 'live';
    const { deployment, id } = await project();
    await fixture.control.deleteDeployment(deployment.id, { delete_tracing_project: true });
    await fixture.rollouts.settled();
    expect(await refusalOf(fixture.control.getProject(id))).toMatchObject({ status: 404 });
    fixture.rollouts.fate = 'held';
  });
});

test('tokens are derived: stable across starts, different per key and project', () => {
  const id = randomUUID();
  expect(createTracing(Buffer.alloc(32, 5)).tokenOf(id)).toBe(testTracing.tokenOf(id));
  expect(createTracing(Buffer.alloc(32, 6)).tokenOf(id)).not.toBe(testTracing.tokenOf(id));
  expect(testTracing.tokenOf(id)).not.toContain(id);
});
