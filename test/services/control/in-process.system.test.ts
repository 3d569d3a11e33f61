import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/kit/clock.ts';
import { isObject } from '../../../src/kit/json-object.ts';
import { ServiceError } from '../../../src/contract/service-error.ts';
import { createRegistry } from '../../../src/services/control/registry/registry.ts';
import { readRegistryAddress } from '../../../src/services/control/registry/registry-address.ts';
import type { OurControlService } from '../../../src/services/control/service.ts';
import { tarballOf } from './builds/tarballs.ts';
import type { Fate } from './instant-rollouts.ts';
import {
  fromGit,
  fromImage,
  fromUpload,
  openServiceFixture,
  testTracing,
  type ServiceFixture,
} from './service-fixture.ts';

let overHttp: ServiceFixture;
let inProcess: ServiceFixture;

/** A service whose registry never answers. */
async function open(): Promise<ServiceFixture> {
  const address = readRegistryAddress('127.0.0.1:1/agents');
  if (!address) throw new Error('the address of the registry is invalid');
  const credentials = { kind: 'token', token: 'of-the-registry' } as const;
  const registry = createRegistry({ address, credentials, clock: systemClock, withinMs: 1_000 });
  const fixture = await openServiceFixture({ registry });
  const repositories = [{ id: 1, owner: 'acme', name: 'agent', url: 'https://example.com/a', defaultBranch: 'main' }];
  const { id } = await fixture.store.bindInstallation(fixture.tenantId, 7, 'acme');
  await fixture.store.putRepositories(id, repositories);
  // Notes the key's use, which only a request over HTTP does.
  await fixture.control.listApiKeys({});
  return fixture;
}
beforeAll(async () => {
  [overHttp, inProcess] = await Promise.all([open(), open()]);
});
afterAll(() => Promise.all([overHttp.close(), inProcess.close()]));

/** How an operation ends: `done`, or the status of its refusal. */
type End = 'done' | 400 | 404 | 409 | 412 | 422 | 502;
type Send = (service: OurControlService, id: (name: string) => string, fixture: ServiceFixture) => Promise<unknown>;

const unknown = '11111111-2222-4333-8444-555555555555';
const git = fromGit({ name: 'git', secrets: [{ name: 'MODEL_KEY', value: 'one' }] });
const image = (changes: Record<string, unknown>) => fromImage({ name: 'image', ...changes });
const cluster = { compute_type: 'k8s', compute_id: 'cluster', compute_config: { k8s_namespaces: ['agents'] } };
const key = (idempotencyKey: string) => ({ idempotencyKey });
const setFate =
  (fate: Fate): Send =>
  async (_, __, { rollouts }) =>
    void (rollouts.fate = fate);

const tracedRun = {
  id: '22222222-2222-4333-8444-555555555555',
  thread_id: null,
  assistant_id: 'helper',
  graph_id: 'agent',
  revision_id: null,
  status: 'success',
  error: null,
  tokens: { input: 10, output: 5, total: 15 },
  created_at: '2030-01-01T00:00:01.000Z',
  started_at: '2030-01-01T00:00:02.000Z',
  ended_at: '2030-01-01T00:00:03.000Z',
};
/** Reports a run to a project, as agents do: over HTTP. */
const reportRun: Send = async (_, id, { baseUrl }) => {
  const project = id('git tracer_session_id');
  const headers = { authorization: `Bearer ${testTracing.tokenOf(project)}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ runs: [tracedRun] });
  return (await fetch(`${baseUrl}/v1/projects/${project}/runs`, { method: 'POST', headers, body })).json();
};

/**
 * Operations of every kind, in order. The ids in the result of one with a name at its end are known by that name from
 * then on: `git id`, `git latest_revision_id`.
 */
const operations: readonly (readonly [what: string, end: End, send: Send, name?: string])[] = [
  ['the features', 'done', (service) => service.features()],
  ['no deployments', 'done', (service) => service.listDeployments({})],
  ['a creation', 'done', (service) => service.createDeployment(git, key('first')), 'git'],
  ['the same creation with its key', 'done', (service) => service.createDeployment(git, key('first'))],
  ['another with the same key', 422, (service) => service.createDeployment({ ...git, name: 'x' }, key('first'))],
  ['a malformed idempotency key', 422, (service) => service.createDeployment(git, key('k'.repeat(256)))],
  ['a name that exists', 409, (service) => service.createDeployment(git)],
  [
    'a creation that breaks a rule',
    400,
    (service) => service.createDeployment({ ...git, name: 'x', source_config: {} }),
  ],
  ['fields of another source', 400, (service) => service.createDeployment(image({ source_config: { repo_url: 'x' } }))],
  ['a creation of the wrong shape', 422, (service) => service.createDeployment({ name: 7, source: 'tape' })],
  ['a creation that is no object', 422, (service) => service.createDeployment([])],
  [
    'an unknown listener',
    400,
    (service) => service.createDeployment(image({ source_config: { listener_id: unknown } })),
  ],
  ['a deployment', 'done', (service, id) => service.getDeployment(id('git id'))],
  ['an unknown deployment', 404, (service) => service.getDeployment(unknown)],
  ['an id that is no uuid', 422, (service) => service.getDeployment('agent')],

  ['a change', 'done', (service, id) => service.patchDeployment(id('git id'), { secrets: [] }), 'second'],
  [
    'a change of what needs no revision',
    'done',
    (service, id) => service.patchDeployment(id('git id'), { source_config: { build_on_push: true } }),
  ],
  [
    'a change of a read-only field',
    400,
    (service, id) =>
      service.patchDeployment(id('git id'), { source_config: { repo_url: 'https://example.com/other' } }),
  ],
  ['a change of the wrong shape', 422, (service, id) => service.patchDeployment(id('git id'), { secrets: 'none' })],
  ['a change of an unknown deployment', 404, (service) => service.patchDeployment(unknown, {})],
  [
    'a change of an old revision',
    412,
    (service, id) => service.patchDeployment(id('git id'), { secrets: [] }, { ifLatest: id('git latest_revision_id') }),
  ],
  [
    'a change of the latest revision',
    'done',
    (service, id) =>
      service.patchDeployment(id('git id'), { secrets: [] }, { ifLatest: id('second latest_revision_id') }),
  ],
  ['a further revision', 'done', (service, id) => service.createRevision(id('git id'), {}, key('further')), 'further'],
  ['the same revision with its key', 'done', (service, id) => service.createRevision(id('git id'), {}, key('further'))],
  ['a redeployment', 'done', (service, id) => service.redeployRevision(id('git id'), id('git latest_revision_id'))],
  [
    'a redeployment of an old revision',
    412,
    (service, id) =>
      service.redeployRevision(id('git id'), id('git latest_revision_id'), { ifLatest: id('further id') }),
  ],
  ['a redeployment of nothing', 404, (service, id) => service.redeployRevision(id('git id'), unknown)],
  ['a revision', 'done', (service, id) => service.getRevision(id('git id'), id('git latest_revision_id'))],
  ['an unknown revision', 404, (service, id) => service.getRevision(id('git id'), unknown)],
  ['a revision whose id is no uuid', 422, (service, id) => service.getRevision(id('git id'), 'latest')],
  ['the revisions', 'done', (service, id) => service.listRevisions(id('git id'), {})],
  ['a page of revisions', 'done', (service, id) => service.listRevisions(id('git id'), { limit: 2, offset: 1 })],
  ['revisions by status', 'done', (service, id) => service.listRevisions(id('git id'), { status: 'DEPLOYED,SKIPPED' })],
  ['an unknown status', 422, (service, id) => service.listRevisions(id('git id'), { status: 'GONE' })],
  [
    'an interruption of an ended revision',
    400,
    (service, id) => service.interruptRevision(id('git id'), id('git latest_revision_id')),
  ],
  ['rollouts that fail', 'done', setFate('build fails')],
  ['a change that fails', 'done', (service, id) => service.patchDeployment(id('git id'), { secrets: [] }), 'failed'],
  ['a failed revision', 'done', (service, id) => service.getRevision(id('git id'), id('failed latest_revision_id'))],
  ['its redeployment', 400, (service, id) => service.redeployRevision(id('git id'), id('failed latest_revision_id'))],
  ['rollouts that wait', 'done', setFate('held')],
  ['a change that waits', 'done', (service, id) => service.patchDeployment(id('git id'), { secrets: [] }), 'waiting'],
  [
    'its interruption',
    'done',
    (service, id) => service.interruptRevision(id('git id'), id('waiting latest_revision_id')),
  ],
  [
    'its interruption once more',
    400,
    (service, id) => service.interruptRevision(id('git id'), id('waiting latest_revision_id')),
  ],

  ['a build log', 'done', (service, id) => service.buildLogs(id('git id'), id('git latest_revision_id'), {})],
  [
    'a page of a build log',
    'done',
    (service, id) => service.buildLogs(id('git id'), id('git latest_revision_id'), { limit: 1, order: 'desc' }),
  ],
  [
    'lines of a level',
    'done',
    (service, id) => service.buildLogs(id('git id'), id('git latest_revision_id'), { level: 'ERROR' }),
  ],
  [
    'lines with a word',
    'done',
    (service, id) => service.buildLogs(id('git id'), id('git latest_revision_id'), { query: 'line' }),
  ],
  [
    'an unknown level',
    422,
    (service, id) => service.buildLogs(id('git id'), id('git latest_revision_id'), { level: 'loud' }),
  ],
  ['a log of an unknown revision', 404, (service, id) => service.buildLogs(id('git id'), unknown, {})],
  ['a deploy log', 'done', (service, id) => service.deployLogs(id('git id'), id('git latest_revision_id'), {})],
  ['the deploy logs of all revisions', 'done', (service, id) => service.deployLogsOfAll(id('git id'), {})],
  [
    'the logs of a deployment',
    'done',
    (service, id) => service.deploymentLogs(id('git id'), { kind: 'build', limit: 2 }),
  ],
  [
    'the logs of a revision',
    'done',
    (service, id) => service.revisionLogs(id('git id'), id('git latest_revision_id'), {}),
  ],
  ['logs by ids in the query', 'done', (service, id) => service.logsByQuery({ deployment_id: id('git id') })],
  ['logs without an id', 422, (service) => service.logsByQuery({})],

  ['no listeners', 'done', (service) => service.listListeners({})],
  ['a new listener', 'done', (service) => service.createListener(cluster, key('listener')), 'listener'],
  ['a listener of the same cluster', 409, (service) => service.createListener(cluster)],
  ['a listener of the wrong shape', 422, (service) => service.createListener({ ...cluster, compute_id: 'a b' })],
  [
    'a listener of a namespace twice',
    400,
    (service) => service.createListener({ ...cluster, compute_config: { k8s_namespaces: ['a', 'a'] } }),
  ],
  ['a listener', 'done', (service, id) => service.getListener(id('listener id'))],
  ['an unknown listener’s own page', 404, (service) => service.getListener(unknown)],
  ['a changed listener', 'done', (service, id) => service.patchListener(id('listener id'), { version: '2' })],
  ['the listeners', 'done', (service) => service.listListeners({ limit: 10 })],
  [
    'a deployment of a listener',
    'done',
    (service, id) =>
      service.createDeployment(
        image({ source_config: { listener_id: id('listener id'), resource_spec: { min_scale: 2 } } }),
      ),
    'image',
  ],
  ['a claim', 'done', (service, id) => service.claimWork(id('listener id'), { holder: 'test' }), 'claim'],
  ['no more work', 'done', (service, id) => service.claimWork(id('listener id'), { holder: 'test' })],
  ['a renewal', 'done', (service, id) => service.renewClaim(id('listener id'), id('claim claim_id'))],
  [
    'a report',
    'done',
    (service, id) => service.reportWork(id('listener id'), id('claim claim_id'), { status: 'DEPLOYED' }),
  ],
  [
    'the same report once more',
    'done',
    (service, id) => service.reportWork(id('listener id'), id('claim claim_id'), { status: 'DEPLOYED' }),
  ],
  [
    'a report on an ended claim',
    409,
    (service, id) => service.reportWork(id('listener id'), id('claim claim_id'), { status: 'DEPLOYING' }),
  ],
  [
    'a report of the wrong shape',
    422,
    (service, id) => service.reportWork(id('listener id'), id('claim claim_id'), { status: 'LIVE' }),
  ],
  ['a release of an ended claim', 409, (service, id) => service.releaseClaim(id('listener id'), id('claim claim_id'))],
  ['a deletion of a listener in use', 409, (service, id) => service.deleteListener(id('listener id'))],

  ['the integrations', 'done', async (service) => (await service.listIntegrations())[0], 'integration'],
  ['the repositories of one', 'done', (service, id) => service.listRepositories(id('integration id'))],
  ['the repositories of an unknown one', 404, (service) => service.listRepositories(unknown)],

  ['the deployments', 'done', (service) => service.listDeployments({})],
  ['a page of deployments', 'done', (service) => service.listDeployments({ limit: 1, offset: 1 })],
  ['deployments by a part of their names', 'done', (service) => service.listDeployments({ name_contains: 'ima' })],
  ['deployments by status', 'done', (service) => service.listDeployments({ status: 'READY' })],
  ['a page that is too long', 422, (service) => service.listDeployments({ limit: 101 })],

  [
    'a deployment of an upload',
    'done',
    (service) => service.createDeployment(fromUpload({ name: 'upload' })),
    'upload',
  ],
  [
    'an address for an upload',
    'done',
    (service, id) => service.requestUpload(id('upload id'), key('upload')),
    'target',
  ],
  ['the same address with its key', 'done', (service, id) => service.requestUpload(id('upload id'), key('upload'))],
  ['an upload', 'done', async (_, id, { put }) => (await put(id('target upload_url'), tarballOf())).status],
  [
    'an uploaded source',
    'done',
    (service, id) =>
      service.patchDeployment(id('upload id'), {
        source_revision_config: { source_tarball_path: id('target object_path') },
      }),
  ],
  [
    'a path that was not issued',
    400,
    (service, id) =>
      service.patchDeployment(id('upload id'), { source_revision_config: { source_tarball_path: 'a.tar.gz' } }),
  ],
  ['an upload for another source', 400, (service, id) => service.requestUpload(id('git id'))],
  [
    'a deployment of a pushed image',
    'done',
    (service) => service.createDeployment(image({ name: 'pushed', source: 'internal_docker' })),
    'pushed',
  ],
  ['a registry that does not answer', 502, (service, id) => service.requestPushToken(id('pushed id'))],

  ['a new key', 'done', (service) => service.createApiKey({ name: 'ci' }, key('ci')), 'key'],
  ['the same key without its text', 'done', (service) => service.createApiKey({ name: 'ci' }, key('ci'))],
  ['a key without a name', 422, (service) => service.createApiKey({})],
  ['the keys', 'done', (service) => service.listApiKeys({ limit: 10 })],
  ['a revoked key', 'done', (service, id) => service.revokeApiKey(id('key id'))],
  ['a revoked key once more', 404, (service, id) => service.revokeApiKey(id('key id'))],
  [
    'the last key',
    409,
    async (service) => service.revokeApiKey((await service.listApiKeys({})).resources[0]?.id ?? ''),
  ],

  ['the tracing projects', 'done', (service) => service.listProjects({ limit: 2 })],
  ['a reported run', 'done', reportRun],
  ['a tracing project', 'done', (service, id) => service.getProject(id('git tracer_session_id'))],
  ['an unknown tracing project', 404, (service) => service.getProject(unknown)],
  [
    'the runs of a project',
    'done',
    (service, id) => service.listProjectRuns(id('git tracer_session_id'), { status: 'success' }),
  ],
  ['a run', 'done', (service, id) => service.getProjectRun(id('git tracer_session_id'), tracedRun.id)],
  ['an unknown run', 404, (service, id) => service.getProjectRun(id('git tracer_session_id'), unknown)],
  ['a deletion of a project in use', 409, (service, id) => service.deleteProject(id('git tracer_session_id'))],

  ['a deletion', 'done', (service, id) => service.deleteDeployment(id('git id'), {}, key('deletion'))],
  [
    'the same deletion with its key',
    'done',
    (service, id) => service.deleteDeployment(id('git id'), {}, key('deletion')),
  ],
  ['a deployment that is being deleted', 'done', (service, id) => service.getDeployment(id('git id'))],
  ['its change', 409, (service, id) => service.patchDeployment(id('git id'), { secrets: [] })],
  ['its revision', 409, (service, id) => service.createRevision(id('git id'), {})],
  ['its name', 409, (service) => service.createDeployment(git)],
  [
    'a deletion of the wrong shape',
    422,
    (service, id) => service.deleteDeployment(id('git id'), { delete_tracing_project: 'perhaps' }),
  ],
  ['a deletion of an unknown deployment', 404, (service) => service.deleteDeployment(unknown)],
  ['rollouts that go on', 'done', setFate('live')],
  [
    'a deletion of several',
    'done',
    (service, id) => service.deleteDeployments({ deployment_ids: [id('git id'), unknown] }),
  ],
  ['a deletion of none', 404, (service) => service.deleteDeployments({ deployment_ids: [unknown] })],
  ['a deleted deployment', 404, (service, id) => service.getDeployment(id('git id'))],
  ['the name of a remaining project', 409, (service) => service.createDeployment(git)],
  ['a deleted project', 'done', (service, id) => service.deleteProject(id('git tracer_session_id'))],

  ['the audit log', 'done', (service) => service.listAudit({ limit: 100 })],
  ['a page of it', 'done', (service) => service.listAudit({ limit: 2 }), 'page'],
  ['the next page', 'done', (service, id) => service.listAudit({ limit: 2, before: id('page next_before') })],
  [
    'changes of a deployment',
    'done',
    (service, id) => service.listAudit({ deployment_id: id('git id'), operation: 'patch deployment' }),
  ],
  ['an invalid cursor', 422, (service) => service.listAudit({ before: 'x' })],
];

interface Answered {
  what: string;
  end: number | string;
  result: unknown;
}

/** Replaces what differs between any two services: ids by numbers in their order, times, keys and the address. */
function placeholders(baseUrl: string): (value: unknown) => unknown {
  const ids = new Map<string, string>();
  const numbered = (id: string): string => {
    const known = ids.get(id) ?? `ID ${ids.size + 1}`;
    ids.set(id, known);
    return known;
  };
  const text = (words: string): string =>
    words
      .replaceAll(baseUrl, 'ADDRESS')
      .replaceAll(/lf_[0-9a-f]{16}_[\w-]{43}/g, 'KEY')
      .replaceAll(/lft_[\w-]{43}/g, 'TOKEN')
      .replaceAll(/expires=\d+&signature=[\w-]+/g, 'SIGNATURE')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g, 'TIME')
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{16}([0-9a-f]{16})?\b/g, numbered);
  const replaced = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(replaced);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, replaced(inner)]));
  };
  return replaced;
}

/** Sends every operation and returns how they end, with placeholders. */
async function answersOf(service: OurControlService, fixture: ServiceFixture): Promise<Answered[]> {
  const known = new Map<string, string>();
  const replaced = placeholders(fixture.baseUrl);
  const id = (name: string): string => known.get(name) ?? `no ${name}`;
  const answers: Answered[] = [];
  for (const [what, , send, name] of operations) {
    try {
      const result = await send(service, id, fixture);
      if (name && isObject(result)) {
        for (const [field, value] of Object.entries(result)) {
          if (typeof value === 'string') known.set(`${name} ${field}`, value);
        }
      }
      answers.push({ what, end: 'done', result: replaced(result) });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { kind, status, method, address, detail, problems } = error;
      answers.push({ what, end: status ?? kind, result: replaced({ kind, method, address, detail, problems }) });
    }
    await fixture.rollouts.settled();
  }
  return answers;
}

test('the service in process answers as it does over HTTP', async () => {
  const [remote, local] = await Promise.all([
    answersOf(overHttp.control, overHttp),
    answersOf(inProcess.inProcess, inProcess),
  ]);
  expect(remote.map(({ what, end }) => [what, end])).toEqual(operations.map(([what, end]) => [what, end]));
  expect(local).toEqual(remote);
});
