import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digestOf, tarballOf } from '../builds/tarballs.ts';
import { fromGit, fromImage, fromUpload, unknownId, openServiceFixture, refusalOf } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

const bytes = tarballOf();
const digest = digestOf(bytes);
const naming = (path: string) => ({ source_revision_config: { source_tarball_path: path } });
const notIssued =
  'source_revision_config.source_tarball_path was not issued by POST /deployments/{deployment_id}/upload-url for this deployment.';

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
  });
  afterAll(() => fixture.close());

  /** A deployment with an uploaded tarball. */
  async function uploaded(changes = {}): Promise<{ id: string; first: string; path: string }> {
    const { id, latest_revision_id } = await fixture.control.createDeployment(fromUpload(changes));
    return { id, first: latest_revision_id ?? '', path: await upload(id) };
  }
  async function upload(id: string): Promise<string> {
    const { upload_url, object_path } = await fixture.control.requestUpload(id);
    expect((await fixture.put(upload_url, bytes)).status).toBe(200);
    return object_path;
  }

  test('the first revision waits for its source, and gives way to the first upload', async () => {
    const { id, latest_revision_id: first } = await fixture.control.createDeployment(fromUpload());
    await fixture.rollouts.settled();
    const waiting = await fixture.control.getRevision(id, first ?? '');
    expect(waiting.status).toBe('CREATING');
    expect(waiting.status_message).toContain('It waits for the source: ask for an address with POST /v2/deployments');
    expect(waiting.source_revision_config).toMatchObject({ source_tarball_path: null, source_tarball_digest: null });
    expect((await fixture.control.getDeployment(id)).status).toBe('AWAITING_DATABASE');

    const changed = await fixture.control.patchDeployment(id, naming(await upload(id)));
    await fixture.rollouts.settled();
    expect(await fixture.control.getRevision(id, first ?? '')).toMatchObject({ status: 'SKIPPED' });
    expect(await fixture.control.getRevision(id, changed.latest_revision_id ?? '')).toMatchObject({
      status: 'DEPLOYED',
      source_revision_config: { source_tarball_digest: digest },
    });
  });

  test('revisions without a source wait as well, and can be interrupted', async () => {
    const { id, latest_revision_id: first } = await fixture.control.createDeployment(fromUpload());
    const second = await fixture.control.patchDeployment(id, { secrets: [{ name: 'A', value: 'b' }] });
    await fixture.rollouts.settled();
    for (const revision of [first, second.latest_revision_id]) {
      expect((await fixture.control.getRevision(id, revision ?? '')).status).toBe('CREATING');
    }
    const ended = await fixture.control.interruptRevision(id, first ?? '');
    expect(ended.status).toBe('INTERRUPTED');
  });

  test(
    'the issued path names the uploaded tarball',
    {
      meta: {
        claims: [
          'control.upload.object-path',
          'control.upload.body',
          'control.patch.source-tarball-path-makes-revision',
        ],
      },
    },
    async () => {
      const { id } = await fixture.control.createDeployment(fromUpload());
      const target = await fixture.control.requestUpload(id);
      expect(Object.keys(target).toSorted()).toEqual(['object_path', 'upload_url']);
      expect(target.object_path).toMatch(new RegExp(`^uploads/${id}/[0-9a-f]{32}\\.tar\\.gz$`));
      expect(new URL(target.upload_url).pathname.endsWith(`/${target.object_path}`)).toBe(true);
      const put = await fixture.put(target.upload_url, bytes);
      expect([put.status, await put.json()]).toEqual([
        200,
        { object_path: target.object_path, source_tarball_digest: digest, size: bytes.length },
      ]);
      const before = await fixture.control.getDeployment(id);
      const after = await fixture.control.patchDeployment(id, naming(target.object_path));
      expect(after.latest_revision_id).not.toBe(before.latest_revision_id);
      expect(after.source_revision_config).toMatchObject({
        source_tarball_path: target.object_path,
        source_tarball_digest: digest,
      });
      await fixture.rollouts.settled();
    },
  );

  test(
    'one upload may make several revisions, and another one the next',
    { meta: { claims: ['control.source-revision-config.source-tarball-path'] } },
    async () => {
      const { id, path } = await uploaded();
      const one = await fixture.control.patchDeployment(id, naming(path));
      await fixture.rollouts.settled();
      const again = await fixture.control.patchDeployment(id, naming(path));
      expect(again.latest_revision_id).not.toBe(one.latest_revision_id);
      await fixture.rollouts.settled();
      const restated = await fixture.control.createRevision(id, {});
      await fixture.rollouts.settled();
      const other = await fixture.control.patchDeployment(id, naming(await upload(id)));
      await fixture.rollouts.settled();
      const ids = [one.latest_revision_id, again.latest_revision_id, restated.id, other.latest_revision_id];
      expect(new Set(ids).size).toBe(4);
      for (const revision of ids) {
        expect(await fixture.control.getRevision(id, revision ?? '')).toMatchObject({
          status: 'DEPLOYED',
          source_revision_config: { source_tarball_digest: digest },
        });
      }
      const back = await fixture.control.redeployRevision(id, one.latest_revision_id ?? '');
      expect(back.source_revision_config).toMatchObject({ source_tarball_path: path, source_tarball_digest: digest });
      await fixture.rollouts.settled();
    },
  );

  test.each<[string, (ids: { id: string; other: string }) => Promise<string>]>([
    ['that was not issued', async ({ id }) => `uploads/${id}/${'0'.repeat(32)}.tar.gz`],
    ['of another deployment', ({ other }) => upload(other)],
    ['that leaves its folder', async ({ id }) => `uploads/${id}/../../api-key`],
    ['of this machine', async () => '/etc/passwd'],
    ['in another spelling', async ({ id }) => `./${await upload(id)}`],
    ['that is an address', async ({ id }) => (await fixture.control.requestUpload(id)).upload_url],
  ])('a path %s is refused, and nothing changes', async (_what, pathOf) => {
    const { id } = await fixture.control.createDeployment(fromUpload());
    const { id: other } = await fixture.control.createDeployment(fromUpload());
    const path = await pathOf({ id, other });
    const before = await fixture.control.getDeployment(id);
    expect(await refusalOf(fixture.control.patchDeployment(id, naming(path)))).toMatchObject({
      status: 400,
      detail: notIssued,
    });
    expect(await refusalOf(fixture.control.createRevision(id, naming(path)))).toMatchObject({
      status: 400,
      detail: notIssued,
    });
    expect(await fixture.control.getDeployment(id)).toEqual(before);
  });

  test('a path without an upload is refused, and says what is missing', async () => {
    const { id } = await fixture.control.createDeployment(fromUpload());
    const { object_path } = await fixture.control.requestUpload(id);
    const refusal = await refusalOf(fixture.control.patchDeployment(id, naming(object_path)));
    expect(refusal.status).toBe(400);
    expect(refusal.detail).toContain('nothing has been uploaded there yet');
  });

  test('a path in a creation is refused: none was issued for a new deployment', async () => {
    const { path } = await uploaded();
    const request = fromUpload({ source_revision_config: { source_tarball_path: path } });
    expect(await refusalOf(fixture.control.createDeployment(request))).toMatchObject({
      status: 400,
      detail: notIssued,
    });
  });

  test.each([
    ['github', fromGit],
    ['external_docker', fromImage],
  ])('a deployment of the source %s gets no upload address', async (source, request) => {
    const { id, name } = await fixture.control.createDeployment(request());
    expect(await refusalOf(fixture.control.requestUpload(id))).toMatchObject({
      status: 400,
      detail: `This is only available for 'internal_source' source deployments; the source of ${name} is ${source}.`,
    });
    expect(await refusalOf(fixture.control.requestPushToken(id))).toMatchObject({
      status: 400,
      detail: `This is only available for 'internal_docker' source deployments; the source of ${name} is ${source}.`,
    });
    await fixture.rollouts.settled();
  });

  test('a foreign, unknown or deleted deployment gets no upload address', async () => {
    const { id } = await fixture.control.createDeployment(fromUpload());
    expect((await refusalOf(fixture.stranger.requestUpload(id))).status).toBe(404);
    expect((await refusalOf(fixture.control.requestUpload(unknownId()))).status).toBe(404);
    expect((await refusalOf(fixture.control.requestUpload('what'))).status).toBe(422);
    fixture.rollouts.fate = 'held';
    await fixture.control.deleteDeployment(id);
    expect((await refusalOf(fixture.control.requestUpload(id))).status).toBe(409);
    fixture.rollouts.fate = 'live';
  });

  test.each<[string, Uint8Array, Record<string, string>, number, string]>([
    [
      'another content type',
      bytes,
      { 'content-type': 'application/octet-stream' },
      415,
      'Content-Type: application/gzip',
    ],
    ['a content encoding', bytes, { 'content-encoding': 'gzip' }, 415, 'without a Content-Encoding'],
    ['an unreadable digest', bytes, { 'content-digest': 'sha-256=what' }, 400, 'Content-Digest can not be read'],
    [
      'another digest',
      bytes,
      { 'content-digest': `sha-256=:${'A'.repeat(43)}=:` },
      400,
      `digest of the tarball is ${digest}`,
    ],
    ['a body that is not gzip', Buffer.from('hello'), {}, 400, 'The body is not gzip'],
    ['an empty body', Buffer.alloc(0), {}, 400, 'The body is not gzip'],
  ])('%s is refused with its reason, and the address stays valid', async (_what, body, headers, status, reported) => {
    const { id } = await fixture.control.createDeployment(fromUpload());
    const { upload_url } = await fixture.control.requestUpload(id);
    const refused = await fixture.put(upload_url, body, headers);
    expect([refused.status, await refused.text()]).toEqual([status, expect.stringContaining(reported)]);
    expect((await fixture.put(upload_url, bytes)).status).toBe(200);
    expect((await fixture.put(upload_url, bytes)).status).toBe(409);
  });

  test.each<[string, (url: URL) => void, number]>([
    [
      'another path',
      (url) => (url.pathname = url.pathname.replace(/.(?=\.tar\.gz$)/, (last) => (last === '0' ? '1' : '0'))),
      403,
    ],
    ['a later expiry', (url) => url.searchParams.set('expires', '99999999999'), 403],
    ['another signature', (url) => url.searchParams.set('signature', 'A'.repeat(43)), 403],
    ['no signature', (url) => (url.search = ''), 403],
  ])('an address with %s is refused', async (_what, change, status) => {
    const { id } = await fixture.control.createDeployment(fromUpload());
    const url = new URL((await fixture.control.requestUpload(id)).upload_url);
    change(url);
    expect((await fixture.put(url.href, bytes)).status).toBe(status);
  });

  test(
    'returns the address with and without the version in the path',
    { meta: { claims: ['control.endpoints.upload-url', 'control.upload.both-paths'] } },
    async () => {
      const prefixed = await openServiceFixture({ prefix: '/base' });
      const { id } = await prefixed.control.createDeployment(fromUpload());
      const headers = { 'x-api-key': prefixed.apiKey };
      for (const path of [`/deployments/${id}/upload-url`, `/v2/deployments/${id}/upload-url`]) {
        const answer = await fetch(`${prefixed.baseUrl}${path}`, { method: 'POST', headers });
        const target = await answer.json();
        expect([answer.status, target]).toEqual([
          200,
          {
            upload_url: expect.stringContaining(`${prefixed.baseUrl}/uploads/${id}/`),
            object_path: expect.any(String),
          },
        ]);
        expect((await fetch(`${prefixed.baseUrl}${path}`, { method: 'POST' })).status).toBe(401);
        const other = await fetch(`${prefixed.baseUrl}${path}`, { headers });
        expect([other.status, other.headers.get('allow')]).toEqual([405, 'POST']);
      }
      const { upload_url } = await prefixed.control.requestUpload(id);
      const read = await fetch(upload_url);
      expect([read.status, read.headers.get('allow')]).toEqual([405, 'PUT']);
      expect((await prefixed.put(upload_url, bytes)).status).toBe(200);
      await prefixed.close();
    },
  );
});
