import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyRow } from '../every-row.ts';
import { fromGit, openServiceFixture, refusalOf, testTracing, type ServiceFixture } from '../service-fixture.ts';

let fixture: ServiceFixture;
beforeAll(async () => {
  fixture = await openServiceFixture();
});
afterAll(() => fixture.close());

async function made(): Promise<[id: string, revision: string]> {
  const { id, latest_revision_id } = await fixture.control.createDeployment(fromGit());
  await fixture.rollouts.settled();
  return [id, latest_revision_id ?? ''];
}

const smokeTest = {
  name: '<b>greets</b>',
  kind: 'failed',
  attempts: 2,
  expectations: [{ expected: '$.reply contains "hello"', seen: '\u001b[31m[x](javascript:1)', held: false }],
  why: null,
  first_event_ms: 12.5,
  total_ms: 40,
};
const report = { kind: 'failed', reporter: 'app', details_url: 'https://github.com/a/b/runs/1', tests: [smokeTest] };
const passed = { kind: 'passed', reporter: 'cli', tests: [] };

test('returns the verdicts on a revision, newest first', async () => {
  const [id, revision] = await made();
  expect(await fixture.control.listVerdicts(id, revision)).toEqual({ resources: [] });
  const first = await fixture.control.reportVerdict(id, revision, report);
  expect(first).toEqual({ id: expect.any(String), created_at: expect.stringMatching(/^20.*Z$/), ...report });
  const second = await fixture.control.reportVerdict(id, revision, passed);
  expect(second).toMatchObject({ ...passed, details_url: null });
  expect((await fixture.control.listVerdicts(id, revision)).resources).toEqual([second, first]);
});

test('masks the secrets of the agent, also at the end of a cut text', async () => {
  const secrets = ['sk-0123456789abcdef', 'pk-fedcba9876543210'];
  const [former = '', current = ''] = secrets;
  const { id, latest_revision_id } = await fixture.control.createDeployment(
    fromGit({ secrets: [{ name: 'KEY', value: former }] }),
  );
  await fixture.rollouts.settled();
  await fixture.control.patchDeployment(id, { secrets: [{ name: 'KEY', value: current }] });
  await fixture.rollouts.settled();
  const { database_password, tracing_project_id } = (await fixture.store.deployment(id)) ?? {};
  const tokens = [
    fixture.agentTokens.issue(id),
    testTracing.tokenOf(tracing_project_id ?? ''),
    database_password ?? '',
  ];
  const expectations = [
    { expected: `equals ${former}, not sk-01`, seen: `${current} and ${former.slice(0, 10)}…`, held: false },
    { expected: tokens.join(), seen: '', held: false },
  ];
  const tests = [{ ...smokeTest, name: `with ${former}`, why: `no ${current}`, expectations }];
  const details_url = `https://ci.test/?key=${current}`;
  const added = await fixture.control.reportVerdict(id, latest_revision_id ?? '', { ...report, details_url, tests });
  const stored = JSON.stringify((await everyRow(fixture.databaseUrl))['control.verdicts']);
  for (const text of [JSON.stringify(added), stored])
    for (const secret of [...secrets, ...tokens]) expect(text).not.toContain(secret.slice(0, 10));
  expect(added.tests).toMatchObject([
    {
      name: 'with ***',
      why: 'no ***',
      expectations: [{ expected: 'equals ***, not sk-01', seen: '*** and ***…' }, { expected: '***,***,***' }],
    },
  ]);
});

test('stores a repeated report once, and records it in the audit log', async () => {
  const [id, revision] = await made();
  const options = { idempotencyKey: `verdict-${id}` };
  const first = await fixture.control.reportVerdict(id, revision, report, options);
  expect(await fixture.control.reportVerdict(id, revision, report, options)).toEqual(first);
  expect((await fixture.control.listVerdicts(id, revision)).resources).toEqual([first]);
  const { name } = await fixture.control.getDeployment(id);
  expect((await fixture.control.listAudit({ deployment_id: id, operation: 'report verdict' })).resources).toMatchObject(
    [{ actor: 'key', subject: { deployment_id: id, deployment_name: name, revision_id: revision }, fields: [] }],
  );
});

test('keeps the newest 20 of a revision, and none of a deleted one', async () => {
  const [id, revision] = await made();
  const [, other] = [
    await fixture.control.reportVerdict(id, revision, report),
    await fixture.control.createRevision(id, {}),
  ];
  await fixture.control.reportVerdict(id, other.id, report);
  for (let sent = 0; sent < 20; sent += 1) await fixture.control.reportVerdict(id, revision, passed);
  const { resources } = await fixture.control.listVerdicts(id, revision);
  expect(resources.map(({ kind }) => kind)).toEqual(Array.from({ length: 20 }, () => 'passed'));
  expect((await fixture.control.listVerdicts(id, other.id)).resources).toHaveLength(1);
  const stored = async () =>
    (await everyRow(fixture.databaseUrl))['control.verdicts']?.filter((row) => row.includes(id));
  expect(await stored()).toHaveLength(21);
  await fixture.rollouts.settled();
  await fixture.control.deleteDeployment(id);
  // It may be gone already.
  const { status } = await refusalOf(fixture.control.reportVerdict(id, revision, passed));
  expect([404, 409]).toContain(status);
  await fixture.rollouts.settled();
  expect(await stored()).toEqual([]);
});

test.each([
  ['a kind that no test has', { kind: 'none' }, ['body.kind']],
  ['an address that a browser would run', { details_url: 'javascript:alert(1)' }, ['body.details_url']],
  ['a NUL', { tests: [{ ...smokeTest, name: 'a\0b' }] }, ['body.tests.0.name']],
  ['a text that is too long', { tests: [{ ...smokeTest, why: 'x'.repeat(2_001) }] }, ['body.tests.0.why']],
  [
    'tests that are too large together',
    { tests: Array.from({ length: 100 }, (_, at) => ({ ...smokeTest, name: `${at}`, why: 'x'.repeat(2_000) })) },
    ['body.tests'],
  ],
])('rejects %s', async (_, change, at) => {
  const [id, revision] = await made();
  expect(await refusalOf(fixture.control.reportVerdict(id, revision, { ...report, ...change }))).toMatchObject({
    status: 422,
    at,
  });
});
