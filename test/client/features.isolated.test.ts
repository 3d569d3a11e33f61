import nock from 'nock';
import { afterEach, describe, expect, test } from 'vitest';
import { checkNothingPending, connectedControl, host } from './intercepted.ts';
import { deploymentId, deploymentReply, quickClock, revisionId, serviceError } from './stand-in.ts';

const clock = quickClock();
const connected = () => connectedControl({ clock });
const info = () => nock(host).get('/api-host/info');
const deploymentPath = `/v2/deployments/${deploymentId}`;

afterEach(checkNothingPending);

describe('features of a control service beyond the document', () => {
  test('are those of its info', async () => {
    info().reply(200, { service: 'landfall control service', idempotency_keys: true, verdicts: true });
    expect(await connected().features()).toEqual({ idempotencyKeys: true, verdicts: true });
  });

  test('include its holds and baselines, which are not part of the document', async () => {
    info().reply(200, { idempotency_keys: true, verdicts: true, baselines: true, holds: true });
    expect(await connected().features()).toMatchObject({ baselines: true, holds: true });
  });

  test('include the pinned commits and copied builds of its info', async () => {
    info().reply(200, { pins_commits: true, copies_builds: true, scales_to_zero: true });
    expect(await connected().features()).toMatchObject({ pinsCommits: true, copiesBuilds: true, scalesToZero: true });
  });

  test('include the address of its console', async () => {
    info().reply(200, { console_url: 'https://control.test/console' });
    expect(await connected().features()).toMatchObject({ consoleUrl: 'https://control.test/console' });
  });

  test.each<[sentence: string, status: number, body: string | object]>([
    ['it has no such path', 404, { detail: 'Not Found' }],
    ['the path takes no GET', 405, { detail: 'Method Not Allowed' }],
    ['the path is not offered', 501, {}],
    ['the caller has no permission', 403, { detail: 'Forbidden' }],
    ['it redirects', 302, ''],
    ['it returns a web page', 200, '<!doctype html><title>Welcome</title>'],
    ['its info is about other things', 200, { version: '1.2.3' }],
    ['its info has another meaning there', 200, { idempotency_keys: 'some' }],
    ['its info is a list', 200, []],
    ['its info is empty', 200, ''],
  ])('are none if %s', async (_sentence, status, body) => {
    info().reply(status, body);
    expect(await connected().features()).toEqual({ idempotencyKeys: false, verdicts: false });
  });

  test('are cached for some minutes, and then requested again', async () => {
    const client = connected();
    info().reply(200, { idempotency_keys: true });
    expect([await client.features(), await client.features()]).toMatchObject([
      { idempotencyKeys: true },
      { idempotencyKeys: true },
    ]);
    await clock.sleep(5 * 60_000);
    info().reply(404);
    expect(await client.features()).toEqual({ idempotencyKeys: false, verdicts: false });
  });

  test('are unknown and not cached while the service is unavailable', async () => {
    const client = connected();
    info().times(2).reply(503, '');
    expect(await serviceError(client.features())).toMatchObject({ kind: 'busy', effect: 'none' });
    info().reply(200, { idempotency_keys: true });
    expect(await client.features()).toEqual({ idempotencyKeys: true, verdicts: false });
  });
});

describe('an idempotency key', () => {
  const key = 'intent-0c1d2e3f';

  test('is sent with a creation, a change and a redeploy', async () => {
    const client = connected();
    const reqheaders = { 'idempotency-key': key };
    nock(host, { reqheaders }).post('/api-host/v2/deployments').reply(201, deploymentReply);
    nock(host, { reqheaders }).patch(`/api-host${deploymentPath}`).reply(200, deploymentReply);
    nock(host, { reqheaders: { ...reqheaders, 'if-match': `"${revisionId}"` } })
      .post(`/api-host${deploymentPath}/revisions/${revisionId}/redeploy`)
      .reply(200, deploymentReply);
    const request = {
      name: 'support',
      source: 'external_docker' as const,
      source_config: {},
      source_revision_config: { image_uri: 'registry.example.test/support:1' },
      secrets: [],
    };
    const answers = [
      await client.createDeployment(request, { idempotencyKey: key }),
      await client.patchDeployment(deploymentId, {}, { idempotencyKey: key }),
      await client.redeployRevision(deploymentId, revisionId, { idempotencyKey: key, ifLatest: revisionId }),
    ];
    expect(answers.map(({ id }) => id)).toEqual([deploymentId, deploymentId, deploymentId]);
  });

  test('is sent with a verdict, which is sent again until it gets a response', async () => {
    const report = { kind: 'passed' as const, reporter: 'cli' as const, tests: [] };
    const path = `/api-host${deploymentPath}/revisions/${revisionId}/verdicts`;
    const scope = nock(host, { reqheaders: { 'idempotency-key': key } });
    scope.post(path, report).reply(503, '');
    scope.post(path, report).reply(201, { id: 'v1' });
    await connected().reportVerdict(deploymentId, revisionId, report, { idempotencyKey: key });
    expect(scope.isDone()).toBe(true);
  });

  test('is not generated if the caller has none', async () => {
    nock(host, { badheaders: ['idempotency-key'] })
      .patch(`/api-host${deploymentPath}`)
      .reply(200, deploymentReply);
    expect((await connected().patchDeployment(deploymentId, {})).id).toBe(deploymentId);
  });

  test.each([
    ['is empty', ''],
    ['breaks the line', 'a\nb'],
    ['holds a letter beyond ASCII', 'schlüssel'],
  ])('that %s throws an internal error, and nothing is sent', async (_what, idempotencyKey) => {
    await expect(connected().patchDeployment(deploymentId, {}, { idempotencyKey })).rejects.toThrow(
      'an idempotency key is 1 to 255 visible ASCII characters',
    );
  });
});
