import { describe, expect, test } from 'vitest';
import type { DesiredInternalSource } from '../../../src/deploy/file/desired.ts';
import type { PackedSource } from '../../../src/kit/archive/pack.ts';
import { ends, goesLive, notOffered, serviceError } from './control-model.ts';
import { DeployFixture, type RunOfTest } from './deploy-fixture.ts';

const folder: DesiredInternalSource = {
  source: 'internal_source',
  name: 'agent',
  sourceDir: 'agent',
  graphConfigPath: 'langgraph.json',
  secrets: [{ name: 'TOKEN', value: 'canary-of-the-folder' }],
  secretsStrategy: 'merge',
  rebuild: 'auto',
};
const packed = (content: string): PackedSource => ({
  folder: 'agent',
  files: 2,
  unpackedBytes: 40,
  leftOut: [],
  size: 20,
  digest: `sha256:${content}`,
  async *read() {
    yield Buffer.from(content);
  },
});

const asking = (fixture: DeployFixture, content = 'one', more: RunOfTest = {}) =>
  fixture.deploy({ desired: folder, tarball: packed(content), further: fixture.control, ...more });
const writes = (fixture: DeployFixture) =>
  fixture.control.calls.filter((call) => ['create', 'request upload', 'put', 'patch', 'delete'].includes(call));
const lost = (operation: string) => serviceError('unreachable', operation, { effect: 'unknown', detail: 'reset' });

/** A fixture in which the folder `one` is live as r2, after r1 waited for it. */
const running = async (): Promise<DeployFixture> => {
  const fixture = new DeployFixture();
  await asking(fixture);
  return fixture;
};

describe('a folder', () => {
  test('creates, uploads and names it, and follows the revision of the upload', async () => {
    const fixture = new DeployFixture();
    const outcome = await asking(fixture);
    expect(outcome).toMatchObject({
      kind: 'deployed',
      passes: true,
      changed: true,
      revisionId: 'r2',
      activeRevisionId: 'r2',
    });
    expect(writes(fixture)).toEqual(['create', 'request upload', 'put', 'patch']);
    expect(fixture.control.sent[1]).toEqual({
      source_revision_config: { graph_config_path: 'langgraph.json', source_tarball_path: 'uploads/d1/1.tar.gz' },
    });
    expect(fixture.reported('started')).toMatchObject([{ how: 'patched', revisionId: 'r2' }]);
    expect(fixture.control.service.revision('r1')?.status).toBe('SKIPPED');
    expect(fixture.reported('uploading')).toMatchObject([{ files: 2, size: 20 }]);
  });

  test('that is live already needs no request, upload or write', async () => {
    const fixture = await running();
    const before = fixture.control.calls.length;
    expect(await asking(fixture)).toMatchObject({ kind: 'unchanged', changed: false });
    expect(writes(fixture)).toHaveLength(4);
    expect(fixture.control.calls.length).toBeGreaterThan(before);
  });

  test('that changed is uploaded, with all other changes in the same PATCH', async () => {
    const fixture = await running();
    const desired = { ...folder, buildCommand: 'make', secrets: [{ name: 'TOKEN', value: 'another-value' }] };
    const outcome = await asking(fixture, 'two', { desired });
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r3' });
    expect(fixture.control.sent.at(-1)).toEqual({
      source_config: { build_command: 'make' },
      source_revision_config: { source_tarball_path: 'uploads/d1/2.tar.gz' },
      secrets: [{ name: 'TOKEN', value: 'another-value' }],
    });
  });

  test('that is being built is followed, not uploaded twice', async () => {
    const fixture = new DeployFixture();
    await asking(fixture, 'one', { wait: false });
    const outcome = await asking(fixture);
    expect(outcome).toMatchObject({ kind: 'deployed', revisionId: 'r2' });
    expect(writes(fixture)).toHaveLength(4);
    expect(fixture.reported('started').at(-1)).toMatchObject({ how: 'adopted' });
  });

  test('is not uploaded by a dry run', async () => {
    const fixture = new DeployFixture();
    const outcome = await asking(fixture, 'one', { mode: 'plan' });
    expect(outcome).toMatchObject({ kind: 'planned', plan: { kind: 'create' } });
    expect(writes(fixture)).toEqual([]);
  });

  test('whose build failed is uploaded again', async () => {
    const fixture = new DeployFixture();
    fixture.control.scripts.push(ends('BUILD_FAILED'));
    expect(await asking(fixture)).toMatchObject({ kind: 'failed', revisionId: 'r2' });
    expect(await asking(fixture)).toMatchObject({ kind: 'deployed', revisionId: 'r3' });
  });

  test('rolls back to its former upload if the service does not redeploy', async () => {
    const fixture = await running();
    fixture.control.lacks.add('redeploy');
    await asking(fixture, 'two');
    const outcome = await fixture.deploy({ desired: folder, mode: 'rollback', further: fixture.control });
    expect(outcome).toMatchObject({ kind: 'rolled-back', passes: true });
    expect(fixture.control.sent.at(-1)).toEqual({
      source_revision_config: { source_tarball_path: 'uploads/d1/1.tar.gz' },
    });
  });
});

describe('an upload that fails', () => {
  test.each([
    ['a store that is busy', serviceError('busy', 'upload source', { status: 503, effect: 'unknown' })],
    ['a store that was not reached', lost('upload source')],
    ['an address that expired', serviceError('unauthorized', 'upload source', { status: 403 })],
  ])('starts again with a new address: %s', async (_, error) => {
    const fixture = new DeployFixture();
    fixture.control.fails('put', error, { times: 2 });
    expect(await asking(fixture)).toMatchObject({ kind: 'deployed', revisionId: 'r2' });
    expect(writes(fixture)).toEqual([
      'create',
      ...Array.from({ length: 3 }, () => ['request upload', 'put']).flat(),
      'patch',
    ]);
    expect(fixture.reported('upload-failed')).toHaveLength(2);
  });

  test.each([
    ['that keeps failing', serviceError('busy', 'upload source', { status: 503, effect: 'unknown' }), 3],
    ['that is too large for the store', serviceError('rejected', 'upload source', { status: 413 }), 1],
  ])('%s fails the run, and keeps what was created', async (_, error, times) => {
    const fixture = new DeployFixture();
    fixture.control.fails('put', error, { times: 3 });
    expect(await asking(fixture)).toMatchObject({ kind: 'failed', changed: true, passes: false });
    expect(fixture.control.count('put')).toBe(times);
    expect(fixture.control.count('patch')).toBe(0);
  });

  test('continues in the next run with the deployment that waits', async () => {
    const fixture = new DeployFixture();
    fixture.control.fails('put', serviceError('rejected', 'upload source', { status: 413 }));
    await asking(fixture);
    expect(await asking(fixture)).toMatchObject({ kind: 'deployed', revisionId: 'r2' });
    expect(fixture.control.count('create')).toBe(1);
  });

  test('rejects a folder that changed meanwhile', async () => {
    const fixture = new DeployFixture();
    const further = {
      requestUpload: fixture.control.requestUpload.bind(fixture.control),
      interruptRevision: fixture.control.interruptRevision.bind(fixture.control),
      deleteDeployment: fixture.control.deleteDeployment.bind(fixture.control),
      putTarball: async () => ({ kind: 'changed', why: 'a.ts was changed while the folder was packed' }) as const,
    };
    const outcome = await asking(fixture, 'one', { further });
    expect(outcome).toMatchObject({ kind: 'failed', changed: true });
    expect(outcome.reason).toBe('The folder was not uploaded: a.ts was changed while the folder was packed.');
    expect(outcome.advice).toContain('source-dir');
    expect(fixture.control.count('patch')).toBe(0);
  });

  test('reports a service without uploads', async () => {
    const fixture = new DeployFixture();
    fixture.control.lacks.add('uploads');
    const outcome = await asking(fixture);
    expect(outcome).toMatchObject({ kind: 'failed', changed: true });
    expect(fixture.control.count('put')).toBe(0);
  });
});

describe('a PATCH of an upload with a lost response', () => {
  test('is resolved by the digest of the latest revision', async () => {
    const fixture = new DeployFixture();
    fixture.control.fails('patch', lost('patch deployment'), { applied: true });
    expect(await asking(fixture)).toMatchObject({ kind: 'deployed', revisionId: 'r2' });
    expect(fixture.control.count('patch')).toBe(1);
  });

  test('is never sent again if the outcome is unknown', async () => {
    const fixture = new DeployFixture();
    fixture.control.fails('patch', lost('patch deployment'));
    const outcome = await asking(fixture);
    expect(outcome).toMatchObject({ kind: 'failed' });
    expect(outcome.reason).toContain('whether the change took effect');
    expect(fixture.control.count('patch')).toBe(1);
  });

  test('succeeded if another client uploaded the same folder', async () => {
    const fixture = await running();
    fixture.control.fails('patch', lost('patch deployment'));
    fixture.control.scripts.push(goesLive());
    const twin = () => {
      const path = fixture.control.service.handOut();
      fixture.control.service.store(path, 'sha256:two');
      fixture.control.service.patch({ source_revision_config: { source_tarball_path: path } });
    };
    const reporting = fixture.deploy({
      desired: folder,
      tarball: packed('two'),
      further: fixture.control,
      emit: (event) => {
        if (event.kind === 'settling') twin();
      },
      wait: false,
    });
    expect(await reporting).toMatchObject({ kind: 'started', revisionId: 'r3' });
    expect(fixture.control.count('patch')).toBe(2);
  });

  test('two steps with one folder make one revision under the precondition', async () => {
    const fixture = await running();
    fixture.control.heedsIfLatest = true;
    const outcomes = await Promise.all([asking(fixture, 'two'), asking(fixture, 'two')]);
    expect(outcomes.map(({ kind, revisionId }) => [kind, revisionId])).toEqual([
      ['deployed', 'r3'],
      ['deployed', 'r3'],
    ]);
  });
});

test("reports neither the store's address nor secrets", async () => {
  const fixture = new DeployFixture();
  fixture.control.fails('put', serviceError('busy', 'upload source', { status: 503, effect: 'unknown' }));
  const outcome = await asking(fixture);
  expect(JSON.stringify([fixture.events, outcome])).not.toMatch(/signature|secret-of-the-store|canary/);
});

test('reports a change if it is cancelled during the upload', async () => {
  const fixture = new DeployFixture();
  const further = {
    requestUpload: fixture.control.requestUpload.bind(fixture.control),
    interruptRevision: fixture.control.interruptRevision.bind(fixture.control),
    deleteDeployment: fixture.control.deleteDeployment.bind(fixture.control),
    putTarball: () => {
      fixture.cancelled.abort(new Error('cancelled'));
      return Promise.reject(fixture.cancelled.signal.reason);
    },
  };
  expect(await asking(fixture, 'one', { further })).toMatchObject({
    kind: 'interrupted',
    changed: true,
    reason: 'This step was ended after a change.',
  });
});

test.each([
  ['suggests another source', notOffered('request upload'), 'another source'],
  ['suggests a check of the store', serviceError('unauthorized', 'upload source', { status: 401 }), 'store'],
  ['suggests a check of the connection', lost('upload source'), 'can be reached from here'],
])('a failed upload %s', async (_, error, advice) => {
  const fixture = new DeployFixture();
  fixture.control.fails(error.operation === 'request upload' ? 'request upload' : 'put', error, { times: 3 });
  expect((await asking(fixture)).advice).toContain(advice);
});
