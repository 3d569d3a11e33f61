import { once } from 'node:events';
import { createServer } from 'node:http';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectControlService } from '../../../../src/client/control.ts';
import { revisionStatusClasses } from '../../../../src/contract/control/revision-status.ts';
import { rolloutAfter } from '../../../../src/deploy/rules/rollout.ts';
import {
  fromGit,
  fromImage,
  unknownId,
  refusalOf,
  openServiceFixture,
  type ServiceFixture,
} from '../service-fixture.ts';
import type { Fate } from '../instant-rollouts.ts';
import { rolloutOf } from '../../../../src/deploy/machine/state.ts';

describe('over HTTP', () => {
  let fixture: ServiceFixture;
  beforeAll(async () => {
    fixture = await openServiceFixture();
  });
  afterAll(() => fixture.close());

  /** A deployment whose first revision had this fate, with that revision's id. */
  async function made(fate: Fate = 'live', request: unknown = fromGit()) {
    fixture.rollouts.fate = fate;
    const { id, latest_revision_id } = await fixture.control.createDeployment(request);
    await fixture.rollouts.settled();
    fixture.rollouts.fate = 'live';
    return { id, first: latest_revision_id ?? '' };
  }

  async function patched(id: string, fate: Fate, patch: unknown): Promise<string> {
    fixture.rollouts.fate = fate;
    const { latest_revision_id } = await fixture.control.patchDeployment(id, patch);
    await fixture.rollouts.settled();
    fixture.rollouts.fate = 'live';
    return latest_revision_id ?? '';
  }

  test(
    'a revision has its id, times, status and source',
    {
      meta: {
        claims: [
          'control.revision.id',
          'control.revision.times',
          'control.revision.status',
          'control.revision.source-revision-config',
        ],
      },
    },
    async () => {
      const { id, first } = await made('held');
      const revision = await fixture.control.getRevision(id, first);
      expect(revision).toMatchObject({
        id: first,
        status: 'CREATING',
        source: 'github',
        source_revision_config: { repo_ref: 'main', graph_config_path: 'graph.json', image_uri: null },
      });
      for (const time of [revision.created_at, revision.updated_at]) expect(time).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
      expect(revision).not.toHaveProperty('secrets');
    },
  );

  test(
    'a failed revision says why, and is never DEPLOYED',
    { meta: { claims: ['control.revision.status-message', 'control.states.deployed-is-final'] } },
    async () => {
      const { id, first } = await made('build fails');
      expect(await fixture.control.getRevision(id, first)).toMatchObject({
        status: 'BUILD_FAILED',
        status_message: 'The build failed at line 7.',
      });
      const live = await patched(id, 'live', { secrets: [] });
      expect(await fixture.control.getRevision(id, live)).toMatchObject({ status: 'DEPLOYED', status_message: null });
    },
  );

  /** Sets a status as another service, or a later version, would. */
  async function rename(revision: string, status: string): Promise<void> {
    const client = new Client({ connectionString: fixture.databaseUrl });
    await client.connect();
    try {
      await client.query('update control.revisions set status = $2 where id = $1', [revision, status]);
    } finally {
      await client.end();
    }
  }

  test(
    'a revision can have each of the twelve other statuses',
    { meta: { claims: ['control.states.other-revision-words'] } },
    async () => {
      const { id, first } = await made('held');
      const reported: string[] = [];
      const look = async (revision: string) =>
        void reported.push((await fixture.control.getRevision(id, revision)).status);
      await look(first);
      await fixture.store.claimNextRevision(id);
      await look(first);
      const second = await patched(id, 'held', { secrets: [] });
      await fixture.store.claimNextRevision(id);
      await look(second);
      for (const [from, to] of [
        ['AWAITING_BUILD', 'BUILDING'],
        ['BUILDING', 'AWAITING_DEPLOY'],
        ['AWAITING_DEPLOY', 'DEPLOYING'],
        ['DEPLOYING', 'DEPLOY_FAILED'],
      ] as const) {
        await fixture.store.setStatus(first, [from], to);
        await look(first);
      }
      await fixture.control.interruptRevision(id, second);
      await look(second);
      await look(await patched(id, 'build fails', { secrets: [] }));
      const third = await patched(id, 'held', { secrets: [] });
      await patched(id, 'live', { secrets: [] });
      await look(third);
      for (const word of ['CREATE_FAILED', 'UNKNOWN']) {
        await rename(third, word);
        await look(third);
      }
      expect(reported).toEqual([
        'CREATING',
        'AWAITING_BUILD',
        'QUEUED',
        'BUILDING',
        'AWAITING_DEPLOY',
        'DEPLOYING',
        'DEPLOY_FAILED',
        'INTERRUPTED',
        'BUILD_FAILED',
        'SKIPPED',
        'CREATE_FAILED',
        'UNKNOWN',
      ]);
      expect([...reported, 'DEPLOYED'].toSorted()).toEqual(Object.keys(revisionStatusClasses).toSorted());
    },
  );

  test(
    'an unknown status is returned as it is, and counts as not final',
    { meta: { claims: ['control.states.unknown-status-survives'] } },
    async () => {
      const { id, first } = await made();
      const server = createServer((_, response) => {
        const answer = fixture.control.getRevision(id, first).then((reported) => JSON.stringify(reported));
        answer.then(
          (text) => response.setHeader('content-type', 'application/json').end(text),
          () => response.writeHead(500).end(),
        );
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = server.address();
      const port = address !== null && typeof address !== 'string' ? address.port : 0;
      const reader = connectControlService({
        baseUrl: `http://127.0.0.1:${port}`,
        apiKey: 'any',
        spelling: 'contract',
        userAgent: 'landfall/test',
      });
      try {
        await rename(first, 'WARMING_UP');
        const { resources } = await fixture.control.listRevisions(id, {});
        expect(resources.map(({ status }) => status)).toEqual(['WARMING_UP']);
        const seen = await reader.getRevision(id, first);
        expect(seen.status).toBe('WARMING_UP');
        const waiting = rolloutAfter(rolloutOf(first), { at: 1, revision: seen });
        expect(waiting).toMatchObject({ kind: 'in-progress', seen: [{ status: 'WARMING_UP', at: 1 }] });
        await rename(first, 'DEPLOYED');
        const deployment = { activeRevisionId: first, latestRevisionId: first };
        const revision = await reader.getRevision(id, first);
        expect(rolloutAfter(waiting, { at: 2, revision, deployment })).toMatchObject({
          kind: 'live',
          seen: [{ status: 'WARMING_UP' }, { status: 'DEPLOYED' }],
        });
      } finally {
        await reader.close();
        server.closeAllConnections();
        server.close();
      }
    },
  );

  test(
    'lists revisions newest first, in pages and by status',
    { meta: { claims: ['control.revisions.list'] } },
    async () => {
      const { id, first } = await made();
      const second = await patched(id, 'build fails', { secrets: [] });
      const third = await patched(id, 'live', { secrets: [] });
      const list = async (query: object) => {
        const { resources, offset } = await fixture.control.listRevisions(id, query);
        return [resources.map((revision) => revision.id), offset];
      };
      expect(await list({})).toEqual([[third, second, first], 3]);
      expect(await list({ limit: 2 })).toEqual([[third, second], 2]);
      expect(await list({ limit: 2, offset: 2 })).toEqual([[first], 3]);
      expect(await list({ status: 'BUILD_FAILED' })).toEqual([[second], 1]);
      expect(await list({ status: 'DEPLOYED,BUILD_FAILED' })).toEqual([[third, second, first], 3]);
      for (const query of [{ limit: 0 }, { limit: 101 }, { offset: -1 }, { status: 'GONE' }])
        expect(await refusalOf(fixture.control.listRevisions(id, query))).toMatchObject({
          status: 422,
          at: [`query.${Object.keys(query)[0]}`],
        });
    },
  );

  test('while one is held the newest of the others is next, and the rest are skipped', async () => {
    const { id, first } = await made('held');
    const second = await patched(id, 'held', { secrets: [] });
    const third = await patched(id, 'live', { secrets: [] });
    const { resources } = await fixture.control.listRevisions(id, {});
    expect(resources.map((revision) => [revision.id, revision.status])).toEqual([
      [third, 'DEPLOYED'],
      [second, 'SKIPPED'],
      [first, 'SKIPPED'],
    ]);
    expect(resources[1]?.status_message).toContain(third);
  });

  describe('redeploy', () => {
    test(
      'redeploys an earlier revision as a new one, with its build and settings',
      { meta: { claims: ['control.revisions.redeploy'] } },
      async () => {
        fixture.rollouts.head = 'a'.repeat(40);
        const { id, first } = await made('live', fromGit({ secrets: [{ name: 'A', value: 'one' }] }));
        fixture.rollouts.head = 'b'.repeat(40);
        const patch = {
          source_config: { build_on_push: true },
          source_revision_config: { repo_ref: 'next' },
          secrets: [{ name: 'A', value: 'two' }],
        };
        const second = await patched(id, 'live', patch);
        const answer = await fixture.control.redeployRevision(id, first);
        await fixture.rollouts.settled();
        const third = answer.latest_revision_id ?? '';
        expect([first, second]).not.toContain(third);
        const after = await fixture.control.getDeployment(id);
        expect(after).toMatchObject({
          active_revision_id: third,
          secrets: [{ name: 'A', value: 'one' }],
          source_config: { build_on_push: true },
          source_revision_config: { repo_ref: 'main', repo_commit_sha: 'a'.repeat(40) },
        });
        const statuses = (await fixture.store.eventsOf(third)).map(({ status }) => status);
        expect(statuses).toEqual(['CREATING', 'AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED']);
      },
    );

    test('a revision without a build cannot be redeployed', async () => {
      const { id, first } = await made('build fails');
      expect(await refusalOf(fixture.control.redeployRevision(id, first))).toMatchObject({
        status: 400,
        detail: expect.stringContaining('BUILD_FAILED'),
      });
      expect((await fixture.control.listRevisions(id, {})).resources).toHaveLength(1);
    });

    test('a tag cannot be redeployed while build_on_push is on', async () => {
      const { id, first } = await made('live', fromGit({ source_revision_config: { repo_ref: 'refs/tags/v1' } }));
      await patched(id, 'live', {
        source_config: { build_on_push: true },
        source_revision_config: { repo_ref: 'main' },
      });
      expect(await refusalOf(fixture.control.redeployRevision(id, first))).toMatchObject({
        status: 400,
        detail: expect.stringContaining('build_on_push'),
      });
    });

    test('redeploys an image with its resource_spec', async () => {
      const { id, first } = await made('live', fromImage({ source_config: { resource_spec: { cpu: 1 } } }));
      await patched(id, 'live', {
        source_config: { resource_spec: { cpu: 2 } },
        source_revision_config: { image_uri: 'a:2' },
      });
      expect(await fixture.control.redeployRevision(id, first)).toMatchObject({
        source_config: { resource_spec: { cpu: 1 } },
        source_revision_config: { image_uri: 'registry.example.com/agent:1' },
      });
      await fixture.rollouts.settled();
    });

    test('an unknown revision is a 404', async () => {
      const { id, first } = await made();
      const other = await made();
      for (const call of [
        () => fixture.control.redeployRevision(id, unknownId()),
        () => fixture.control.redeployRevision(unknownId(), first),
        () => fixture.control.redeployRevision(id, other.first),
      ])
        expect(await refusalOf(call())).toMatchObject({ status: 404 });
    });
  });

  describe('beyond the specification', () => {
    test('creates a revision without a change', async () => {
      const { id, first } = await made();
      const revision = await fixture.control.createRevision(id, {});
      expect(revision).toMatchObject({ source_revision_config: { repo_ref: 'main' } });
      expect(revision.id).not.toBe(first);
      expect(await fixture.control.getDeployment(id)).toMatchObject({ latest_revision_id: revision.id });
      expect(await refusalOf(fixture.control.createRevision(id, { secrets: [7] }))).toMatchObject({ status: 422 });
    });

    test('a pending revision can be interrupted, a final one cannot', async () => {
      const { id, first } = await made('held');
      expect(await fixture.control.interruptRevision(id, first)).toMatchObject({ id: first, status: 'INTERRUPTED' });
      expect(await refusalOf(fixture.control.interruptRevision(id, first))).toMatchObject({ status: 400 });
      expect(await fixture.control.getDeployment(id)).toMatchObject({ status: 'UNUSED', active_revision_id: null });
    });
  });

  describe('logs', () => {
    test(
      'reads the build log in pages, filtered by level and text',
      { meta: { claims: ['control.logs.build'] } },
      async () => {
        const { id, first } = await made();
        const messages = async (body: unknown) => {
          const { logs, next_offset } = await fixture.control.buildLogs(id, first, body);
          return [logs.map(({ message }) => message), next_offset] as const;
        };
        const all = ['installing', 'Failed at line 7', 'done'];
        expect(await messages({})).toEqual([all, null]);
        expect(await messages(undefined)).toEqual([all, null]);
        expect(await messages({ order: 'desc', limit: 1 })).toEqual([['done'], expect.any(String)]);
        const [, next] = await messages({ limit: 2 });
        expect(await messages({ limit: 2, offset: next })).toEqual([['done'], null]);
        expect(await messages({ level: 'ERROR', query: '', start_time: null })).toEqual([['Failed at line 7'], null]);
        expect(await messages({ level: 'critical' })).toEqual([[], null]);
        expect(await messages({ query: 'LINE' })).toEqual([['Failed at line 7'], null]);
        expect(await messages({ end_time: '2001-01-01T00:00:00Z' })).toEqual([[], null]);
        const { logs } = await fixture.control.buildLogs(id, first, {});
        expect(await messages({ start_time: logs[1]?.timestamp })).toEqual([all.slice(1), null]);
      },
    );

    test('a page of an open log has a next offset, an empty page has none', async () => {
      const { id, first } = await made('held');
      const say = (message: string) => fixture.store.appendLog(first, 'build', [{ level: 'info', message }]);
      const page = async (offset?: string | null) => {
        const { logs, next_offset } = await fixture.control.buildLogs(id, first, { order: 'asc', limit: 50, offset });
        return { said: logs.map(({ message }) => message), next: next_offset };
      };
      await say('one');
      const { said, next } = await page();
      expect([said, next]).toEqual([['one'], expect.any(String)]);
      expect(await page(next)).toEqual({ said: [], next: null });
      await say('two');
      expect(await page(next)).toMatchObject({ said: ['two'] });
      await fixture.control.interruptRevision(id, first);
      expect(await page()).toEqual({ said: ['one', 'two'], next: null });
    });

    test('merges the deploy logs of all revisions in order', async () => {
      const { id } = await fixture.control.createDeployment(fromGit());
      await fixture.rollouts.settled();
      const { id: second } = await fixture.control.createRevision(id, {});
      await fixture.rollouts.settled();
      await fixture.store.appendLog(second, 'deploy', [{ level: 'error', message: 'said last' }]);
      const pageOf = async (body: object) => {
        const { logs, next_offset } = await fixture.control.deployLogsOfAll(id, body);
        return [logs.map(({ message }) => message), next_offset ?? undefined] as const;
      };
      expect(await pageOf({})).toEqual([['listening', 'listening', 'said last'], undefined]);
      expect(await pageOf({ level: 'error' })).toEqual([['said last'], undefined]);
      const [newest, cursor] = await pageOf({ order: 'desc', limit: 1 });
      expect(newest).toEqual(['said last']);
      expect(await pageOf({ order: 'desc', limit: 5, offset: cursor })).toEqual([
        ['listening', 'listening'],
        undefined,
      ]);
      expect(await refusalOf(fixture.stranger.deployLogsOfAll(id, {}))).toMatchObject({ status: 404 });
    });

    test('reads a log by query parameters too, of one revision or of all', async () => {
      const { id, latest_revision_id } = await fixture.control.createDeployment(fromGit());
      const revision = latest_revision_id ?? '';
      await fixture.rollouts.settled();
      const words = ({ logs }: { logs: { message: string }[] }) => logs.map(({ message }) => message);
      const build = ['installing', 'Failed at line 7', 'done'];
      expect(words(await fixture.control.revisionLogs(id, revision, { kind: 'build' }))).toEqual(build);
      expect(words(await fixture.control.revisionLogs(id, revision, {}))).toEqual(['listening']);
      expect(words(await fixture.control.deploymentLogs(id, { kind: 'build', limit: 1 }))).toEqual(['installing']);
      const ids = { deployment_id: id, revision_id: revision };
      expect(words(await fixture.control.logsByQuery({ ...ids, log_type: 'build', sort_order: 'desc' }))).toEqual(
        build.toReversed(),
      );
      expect(words(await fixture.control.logsByQuery({ deployment_id: id }))).toEqual(['listening']);
      const page = await fixture.control.revisionLogs(id, revision, { kind: 'build', limit: 2 });
      const rest = { kind: 'build', offset: page.next_offset };
      expect(words(await fixture.control.revisionLogs(id, revision, rest))).toEqual(['done']);
      for (const query of [{ kind: 'agent' }, { level: 'eror' }, { limit: 'many' }, { start_time: 'yesterday' }])
        expect(await refusalOf(fixture.control.revisionLogs(id, revision, query))).toMatchObject({ status: 422 });
      expect(await refusalOf(fixture.control.logsByQuery({}))).toMatchObject({
        status: 422,
        at: ['query.deployment_id'],
      });
      expect(await refusalOf(fixture.stranger.logsByQuery(ids))).toMatchObject({ status: 404 });
    });

    test('reads the deploy log the same way', { meta: { claims: ['control.logs.deploy'] } }, async () => {
      const { id, first } = await made();
      expect(await fixture.control.deployLogs(id, first, { order: 'asc', limit: 10 })).toMatchObject({
        logs: [{ level: 'info', message: 'listening', timestamp: expect.any(String), id: expect.any(String) }],
        next_offset: null,
      });
    });

    test('an invalid query is refused', async () => {
      const { id, first } = await made('held');
      for (const body of [
        { order: 'up' },
        { limit: 0 },
        { level: 'eror' },
        { offset: 'a' },
        { start_time: 'yesterday' },
      ])
        expect(await refusalOf(fixture.control.buildLogs(id, first, body))).toMatchObject({
          status: 422,
          at: [`body.${Object.keys(body)[0]}`],
        });
      expect(await refusalOf(fixture.stranger.buildLogs(id, first, {}))).toMatchObject({ status: 404 });
    });
  });
});
