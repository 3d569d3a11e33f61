import { describe, expect, test } from 'vitest';
import type { DesiredExternalDocker, DesiredGithub } from '../../src/config/desired.ts';
import type { Deployment } from '../../src/contract/control/deployment.ts';
import type { KnownCommit } from '../../src/decide/commit.ts';
import { plan } from '../../src/decide/plan.ts';
import { withoutRequest } from '../../src/decide/plan-told.ts';
import type { Plan, Seen } from '../../src/decide/plan-types.ts';

const ours = 'a'.repeat(40);
const theirs = 'b'.repeat(40);
const known: KnownCommit = { kind: 'known', sha: ours, from: 'this workflow' };
const unknown: KnownCommit = { kind: 'unknown', why: 'nobody says' };

const github: DesiredGithub = {
  source: 'github',
  name: 'agent',
  repoUrl: 'https://github.com/acme/agent',
  repoRef: 'main',
  graphConfigPath: 'langgraph.json',
  secretsStrategy: 'merge',
  rebuild: 'auto',
};
const docker: DesiredExternalDocker = {
  source: 'external_docker',
  name: 'agent',
  imageUri: 'registry.test/agent:1',
  secretsStrategy: 'merge',
};

const base: Deployment = {
  id: 'd1',
  tenant_id: 't1',
  name: 'agent',
  source: 'github',
  source_config: {},
  source_revision_config: {},
  secrets: [{ name: 'TOKEN', value: 'one' }],
  created_at: '',
  updated_at: '',
  status: 'READY',
  latest_revision_id: 'r1',
  active_revision_id: 'r1',
};
const built: Deployment = {
  ...base,
  source_config: {
    repo_url: 'https://github.com/acme/agent',
    integration_id: '8b6e4c1e-0000-4000-8000-000000000001',
    deployment_type: 'dev',
    build_on_push: false,
    install_command: null,
  },
  source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json', repo_commit_sha: ours },
};
const image: Deployment = {
  ...base,
  source: 'external_docker',
  source_config: { custom_url: 'https://agent.test', listener_id: null, resource_spec: { cpu: 1, memory_mb: 512 } },
  source_revision_config: { image_uri: 'registry.test/agent:1' },
};

const revision = (id: string, status: string, repo_commit_sha: string | null = ours) => ({
  id,
  status,
  source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json', repo_commit_sha },
});
const imageRevision = (id: string, status: string, image_uri = 'registry.test/agent:1') => ({
  id,
  status,
  source_revision_config: { image_uri },
});
const live = revision('r1', 'DEPLOYED');
const seen: Seen = { deployment: built, live, latest: live, commit: known };
const liveImage = imageRevision('r1', 'DEPLOYED');
const seenImage: Seen = { deployment: image, live: liveImage, latest: liveImage, commit: unknown };
/** Another revision is the newest one; r1 still serves. */
const newest = (latest: Seen['latest'], commit: string | null = ours): Partial<Seen> => ({
  latest,
  deployment: { ...built, latest_revision_id: latest?.id ?? null },
  live: revision('r1', 'DEPLOYED', commit),
});

const changed = (planned: Plan) =>
  planned.kind === 'patch' || planned.kind === 'create' ? planned.changes.map(({ field }) => field) : [];
const request = (planned: Plan) =>
  planned.kind === 'patch' || planned.kind === 'create' ? planned.request : undefined;
const obstacles = (planned: Plan) => (planned.kind === 'impossible' ? planned.obstacles : []);
const notes = (planned: Plan) => (planned.kind === 'impossible' ? '' : planned.notes.join('; '));

describe('field by field', () => {
  test.each<[string, Partial<DesiredGithub>, string[], boolean]>([
    ['another branch', { repoRef: 'next' }, ['source_revision_config.repo_ref'], true],
    [
      'another graph configuration',
      { graphConfigPath: 'a/b.json' },
      ['source_revision_config.graph_config_path'],
      true,
    ],
    ['building on push, turned on', { buildOnPush: true }, ['source_config.build_on_push'], false],
    ['an install command', { installCommand: 'npm ci' }, ['source_config.install_command'], false],
    [
      'two fields at once',
      { repoRef: 'next', buildOnPush: true },
      ['source_config.build_on_push', 'source_revision_config.repo_ref'],
      true,
    ],
    ['the repository in another spelling', { repoUrl: 'git@github.com:Acme/agent.git' }, [], false],
    ['the graph configuration with a dot before it', { graphConfigPath: './langgraph.json' }, [], false],
    ['an id in capitals', { integrationId: '8B6E4C1E-0000-4000-8000-000000000001' }, [], false],
  ])('%s', (_, asked, fields, makesRevision) => {
    const planned = plan({ ...github, ...asked }, seen);
    expect(changed(planned)).toEqual(fields);
    expect(planned.kind).toBe(fields.length > 0 ? 'patch' : 'none');
    expect(planned.kind === 'patch' && planned.makesRevision).toBe(makesRevision);
  });

  test('only what differs is sent, and each change says from, to and why', () => {
    const planned = plan({ ...github, repoRef: 'next', buildOnPush: true }, seen);
    expect(request(planned)).toEqual({
      source_config: { build_on_push: true },
      source_revision_config: { repo_ref: 'next' },
    });
    expect(planned.kind === 'patch' && planned.changes).toEqual([
      {
        field: 'source_config.build_on_push',
        from: 'false',
        to: 'true',
        makesRevision: false,
        why: 'it differs, and it changes in place',
      },
      {
        field: 'source_revision_config.repo_ref',
        from: 'main',
        to: 'next',
        makesRevision: true,
        why: 'it differs, and it makes a revision',
      },
    ]);
    expect(planned.kind === 'patch' && planned.formerLatestRevisionId).toBe('r1');
  });

  test('what is not asked for stays as it is', () => {
    const desired: DesiredGithub = { source: 'github', name: 'agent', secretsStrategy: 'merge', rebuild: 'auto' };
    expect(plan(desired, seen).kind).toBe('none');
  });

  test('a branch that the service tells in its long spelling is the same', () => {
    const source_revision_config = { ...built.source_revision_config, repo_ref: 'refs/heads/main' };
    expect(plan(github, { ...seen, deployment: { ...built, source_revision_config } }).kind).toBe('none');
  });

  test('a command that only the next revision heeds says so', () => {
    expect(notes(plan({ ...github, buildCommand: 'npm run build' }, seen))).toContain('until the next revision');
    expect(notes(plan({ ...github, buildCommand: 'npm run build', repoRef: 'next' }, seen))).toBe('');
  });
});

describe('what cannot be changed', () => {
  const id = '8b6e4c1e-0000-4000-8000-000000000002';
  test.each<[string, Partial<DesiredGithub>, string, string]>([
    ['another repository', { repoUrl: 'https://github.com/acme/other' }, 'source_config.repo_url', 'repo-url'],
    ['another deployment type', { deploymentType: 'prod' }, 'source_config.deployment_type', 'deployment-type'],
    ['another integration', { integrationId: id }, 'source_config.integration_id', 'integration-id'],
    ['another name than that of the given id', { name: 'other', deploymentId: 'd1' }, 'name', 'name'],
    [
      'building a tag on push',
      { repoRef: 'refs/tags/v1', buildOnPush: true },
      'source_config.build_on_push',
      'build-on-push',
    ],
  ])('%s', (_, asked, field, input) => {
    const found = obstacles(plan({ ...github, ...asked }, seen));
    expect(found.map((each) => each.field)).toEqual([field]);
    expect(found[0]?.advice).toContain(input);
  });

  test.each<[string, Partial<DesiredExternalDocker>, string]>([
    ['a listener where there is none', { listenerId: id }, 'source_config.listener_id'],
    ['a namespace where one is set', { k8sNamespace: 'b' }, 'source_config.listener_config.k8s_namespace'],
  ])('%s', (_, asked, field) => {
    const deployment = { ...image, source_config: { ...image.source_config, listener_config: { k8s_namespace: 'a' } } };
    expect(obstacles(plan({ ...docker, ...asked }, { ...seenImage, deployment })).map((each) => each.field)).toEqual([
      field,
    ]);
  });

  test('another source stands alone: nothing else can be compared', () => {
    const found = obstacles(plan(docker, seen));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ field: 'source', problem: expect.stringContaining('github') });
  });

  test('a tag, where building on push is on already and nobody turns it off', () => {
    const deployment = { ...built, source_config: { ...built.source_config, build_on_push: true } };
    const tag = { ...github, repoRef: 'refs/tags/v1' };
    expect(obstacles(plan(tag, { ...seen, deployment }))[0]?.field).toBe('source_config.build_on_push');
    expect(plan({ ...tag, buildOnPush: false }, { ...seen, deployment }).kind).toBe('patch');
  });

  test('all that stands in the way is told at once', () => {
    const found = obstacles(
      plan({ ...github, name: 'x', repoUrl: 'https://github.com/a/b', deploymentType: 'prod' }, seen),
    );
    expect(found.map(({ field }) => field)).toEqual([
      'name',
      'source_config.repo_url',
      'source_config.deployment_type',
    ]);
  });

  test('a fixed field that the service does not tell is left alone, and it says so', () => {
    const deployment = { ...built, source_config: { repo_url: 'https://github.com/acme/agent' } };
    const planned = plan({ ...github, deploymentType: 'prod' }, { ...seen, deployment });
    expect(planned.kind).toBe('none');
    expect(notes(planned)).toContain('source_config.deployment_type could not be compared');
  });

  test('a deployment that is being deleted', () => {
    const deployment = { ...built, status: 'AWAITING_DELETE' };
    expect(obstacles(plan(github, { ...seen, deployment }))[0]?.advice).toContain('another name');
  });

  test('no password of an address is shown', () => {
    const [found] = obstacles(plan({ ...github, repoUrl: 'https://me:hush@github.com/acme/other' }, seen));
    expect(JSON.stringify(found)).not.toContain('hush');
  });
});

describe('rebuild: auto', () => {
  const restated = { source_revision_config: { repo_ref: 'main' } };
  test.each<[string, Partial<Seen>, Partial<DesiredGithub>, { adopt?: string; untold?: true } | 'none' | 'restate']>([
    ['this commit is live: nothing', {}, {}, 'none'],
    ['another commit is live: built', newest(live, theirs), {}, 'restate'],
    [
      'the live one does not tell its commit: built',
      { live: revision('r1', 'DEPLOYED', null), latest: live },
      {},
      'restate',
    ],
    ['the commit cannot be known: built', { commit: unknown }, {}, 'restate'],
    ['a revision of it is building: adopted', newest(revision('r2', 'BUILDING'), theirs), {}, { adopt: 'r2' }],
    ['a revision of it is queued: adopted', newest(revision('r2', 'QUEUED'), theirs), {}, { adopt: 'r2' }],
    [
      'a revision of it is finished and not switched to yet: adopted',
      newest(revision('r2', 'DEPLOYED'), theirs),
      {},
      { adopt: 'r2' },
    ],
    [
      'a revision of it has a status that nobody knows: adopted',
      newest(revision('r2', 'PONDERING'), theirs),
      {},
      { adopt: 'r2' },
    ],
    [
      'a queued revision does not tell its commit yet: looked at again',
      newest(revision('r2', 'QUEUED', null), theirs),
      {},
      { adopt: 'r2', untold: true },
    ],
    ['also where this commit is live', newest(revision('r2', 'QUEUED', null)), {}, { adopt: 'r2', untold: true }],
    [
      'a revision of another commit is on its way: built',
      newest(revision('r2', 'BUILDING', theirs), theirs),
      {},
      'restate',
    ],
    ['another commit is on its way, this one is live: nothing', newest(revision('r2', 'BUILDING', theirs)), {}, 'none'],
    [
      'a revision of it is on its way behind the newest: adopted',
      { ...newest(revision('r3', 'QUEUED', theirs), theirs), onTheirWay: [revision('r2', 'BUILDING')] },
      {},
      { adopt: 'r2' },
    ],
    ['one of it failed: built again', newest(revision('r2', 'BUILD_FAILED'), theirs), {}, 'restate'],
    ['one of it was interrupted: built again', newest(revision('r2', 'INTERRUPTED'), theirs), {}, 'restate'],
    ['one of it was skipped: built again', newest(revision('r2', 'SKIPPED'), theirs), {}, 'restate'],
    [
      'it is live, and one of another commit failed: nothing',
      newest(revision('r2', 'BUILD_FAILED', theirs)),
      {},
      'none',
    ],
    [
      'it is live, and one of it with these secrets failed: built again',
      newest(revision('r2', 'DEPLOY_FAILED')),
      { secrets: [{ name: 'TOKEN', value: 'one' }] },
      'restate',
    ],
    ['nothing was ever made: built', { latest: undefined, live: undefined }, {}, 'restate'],
    ['always: built, although it is live', {}, { rebuild: 'always' }, 'restate'],
    ['always: built, although it is on its way', newest(revision('r2', 'BUILDING')), { rebuild: 'always' }, 'restate'],
    ['never: another commit is live and stays', newest(live, theirs), { rebuild: 'never' }, 'none'],
    [
      'never: what is on its way is followed',
      newest(revision('r2', 'BUILDING', theirs)),
      { rebuild: 'never' },
      { adopt: 'r2' },
    ],
  ])('%s', (_, actual, asked, wanted) => {
    const planned = plan({ ...github, ...asked }, { ...seen, ...actual });
    const { adopt, untoldCommit: untold } = planned.kind === 'none' ? planned : {};
    const nothing = adopt || untold ? { adopt, untold } : 'none';
    expect(planned.kind === 'patch' ? request(planned) : nothing).toEqual(wanted === 'restate' ? restated : wanted);
    expect(changed(planned)).toEqual(wanted === 'restate' ? ['source_revision_config.repo_ref'] : []);
  });

  test('where the commit cannot be known it says so', () => {
    expect(notes(plan(github, { ...seen, commit: unknown }))).toContain('nobody says');
  });

  test('a difference and another commit make one revision', () => {
    const planned = plan(
      { ...github, secrets: [{ name: 'TOKEN', value: 'two' }] },
      { ...seen, live: revision('r1', 'DEPLOYED', theirs), latest: revision('r1', 'DEPLOYED', theirs) },
    );
    expect(request(planned)).toEqual({
      source_revision_config: { repo_ref: 'main' },
      secrets: [{ name: 'TOKEN', value: 'two' }],
    });
  });

  test('a difference alone leaves the ref of a live commit unstated', () => {
    const planned = plan({ ...github, secrets: [{ name: 'TOKEN', value: 'two' }] }, seen);
    expect(request(planned)).toEqual({ secrets: [{ name: 'TOKEN', value: 'two' }] });
  });

  test('a change in place beside a revision on its way: sent, and that one is followed', () => {
    const planned = plan({ ...github, buildOnPush: true }, { ...seen, ...newest(revision('r2', 'BUILDING'), theirs) });
    expect(planned).toMatchObject({ kind: 'patch', makesRevision: false, adopt: 'r2' });
  });

  test('the ref of the deployment is restated where none was asked for', () => {
    const { repoRef: _left, ...asked } = github;
    const planned = plan(asked, { ...seen, commit: unknown });
    expect(request(planned)).toEqual({ source_revision_config: { repo_ref: 'main' } });
  });

  test('a revision is needed and nobody knows of which ref', () => {
    const { repoRef: _left, ...asked } = github;
    const deployment = { ...built, source_revision_config: {} };
    expect(obstacles(plan(asked, { ...seen, deployment, commit: unknown }))[0]?.advice).toBe('Give repo-ref.');
  });

  test('never, and nothing is live: impossible, and it says which input to change', () => {
    const failed = revision('r1', 'BUILD_FAILED');
    const planned = plan({ ...github, rebuild: 'never' }, { ...seen, live: undefined, latest: failed });
    expect(obstacles(planned)[0]).toMatchObject({ field: 'rebuild', advice: 'Set rebuild to auto.' });
  });
});

describe('an image', () => {
  const failed = (image_uri?: string): Partial<Seen> => ({
    latest: imageRevision('r2', 'DEPLOY_FAILED', image_uri),
    deployment: { ...image, latest_revision_id: 'r2' },
  });
  test.each<[string, Partial<DesiredExternalDocker>, Partial<Seen>, object | 'none' | { adopt: string }]>([
    ['is live: nothing', {}, {}, 'none'],
    ['is another one: sent', { imageUri: 'registry.test/agent:2' }, {}, { image_uri: 'registry.test/agent:2' }],
    ['is on its way: adopted', {}, { latest: imageRevision('r2', 'DEPLOYING') }, { adopt: 'r2' }],
    [
      'failed, and the former one is live: tried again',
      {},
      { ...failed(), live: imageRevision('r1', 'DEPLOYED', 'registry.test/agent:0') },
      { image_uri: 'registry.test/agent:1' },
    ],
    ['is live, and a later revision of it failed: nothing', {}, failed(), 'none'],
    [
      'is live, and a later revision with these resources failed: tried again',
      { resourceSpec: { cpu: 1 } },
      failed(),
      { image_uri: 'registry.test/agent:1' },
    ],
    ['nothing is live: tried again', {}, { ...failed(), live: undefined }, { image_uri: 'registry.test/agent:1' }],
  ])('%s', (_, asked, actual, wanted) => {
    const planned = plan({ ...docker, ...asked }, { ...seenImage, ...actual });
    const adopted = planned.kind === 'none' && planned.adopt ? { adopt: planned.adopt } : 'none';
    expect(planned.kind === 'patch' ? request(planned)?.source_revision_config : adopted).toEqual(wanted);
  });

  test('its address changes in place', () => {
    const planned = plan({ ...docker, customUrl: 'https://other.test/' }, seenImage);
    expect(planned).toMatchObject({ kind: 'patch', makesRevision: false });
    expect(plan({ ...docker, customUrl: 'https://agent.test/' }, seenImage).kind).toBe('none');
  });
});

describe('secrets', () => {
  const held = [
    { name: 'TOKEN', value: 'one' },
    { name: 'OTHER', value: 'kept' },
  ];
  const deployment = { ...image, secrets: held };
  const asked = (secrets: DesiredExternalDocker['secrets'], strategy: 'merge' | 'overwrite' = 'merge') =>
    plan({ ...docker, ...(secrets ? { secrets } : {}), secretsStrategy: strategy }, { ...seenImage, deployment });

  test.each<[string, Plan, unknown, string[]]>([
    [
      'merge sends the union of both',
      asked([{ name: 'TOKEN', value: 'two' }]),
      [held[1], { name: 'TOKEN', value: 'two' }],
      ['secrets.TOKEN'],
    ],
    ['merge adds one', asked([{ name: 'NEW', value: 'x' }]), [...held, { name: 'NEW', value: 'x' }], ['secrets.NEW']],
    ['merge of what is there sends nothing', asked([{ name: 'TOKEN', value: 'one' }]), undefined, []],
    [
      'overwrite removes the others',
      asked([{ name: 'TOKEN', value: 'one' }], 'overwrite'),
      [held[0]],
      ['secrets.OTHER'],
    ],
    ['overwrite with the same in another order sends nothing', asked(held.toReversed(), 'overwrite'), undefined, []],
    ['overwrite with nothing empties', asked([], 'overwrite'), [], ['secrets.TOKEN', 'secrets.OTHER']],
    ['nothing asked for leaves all alone', asked(undefined, 'overwrite'), undefined, []],
  ])('%s', (_, planned, sent, fields) => {
    expect(request(planned)?.secrets).toEqual(sent);
    expect(changed(planned)).toEqual(fields);
  });

  test('no value is in what may be told', () => {
    const planned = asked([{ name: 'TOKEN', value: 'hush-hush' }], 'overwrite');
    expect(planned.kind).toBe('patch');
    expect(JSON.stringify(withoutRequest(planned))).not.toMatch(/hush|"one"|kept/);
  });

  test('values that the service hides are not overwritten with asterisks', () => {
    const hidden = { ...image, secrets: [{ name: 'OTHER', value: '******' }] };
    const planned = plan({ ...docker, secrets: [{ name: 'A', value: 'b' }] }, { ...seenImage, deployment: hidden });
    expect(obstacles(planned)[0]).toMatchObject({ field: 'secrets.OTHER', advice: expect.stringContaining('secrets') });
  });

  test('references are compared by name and change in place', () => {
    const secretReferences = [{ name: 'A', secret_name: 's', secret_key: 'k' }];
    const planned = plan({ ...docker, secretReferences }, seenImage);
    expect(planned).toMatchObject({
      kind: 'patch',
      makesRevision: false,
      request: { secret_references: secretReferences },
    });
    const there = { ...image, secret_references: secretReferences };
    expect(plan({ ...docker, secretReferences }, { ...seenImage, deployment: there }).kind).toBe('none');
    expect(plan({ ...docker, secretReferences: [] }, { ...seenImage, deployment: there })).toMatchObject({
      request: { secret_references: [] },
    });
  });
});

describe('resources', () => {
  const asked = (resourceSpec: DesiredExternalDocker['resourceSpec'], resource_spec: Record<string, unknown>) =>
    plan(
      { ...docker, ...(resourceSpec ? { resourceSpec } : {}) },
      { ...seenImage, deployment: { ...image, source_config: { resource_spec } } },
    );

  test.each<[string, DesiredExternalDocker['resourceSpec'], Record<string, unknown>]>([
    ['the same', { cpu: 1 }, { cpu: 1 }],
    ['rounded by the service', { cpu: 0.25 }, { cpu: 0.3 }],
    ['rounded by nobody', { cpu: 0.3 }, { cpu: 0.30000000000000004 }],
    [
      'told with the defaults filled in',
      { cpu: 1, memory_mb: 512 },
      { cpu: 1, memory_mb: 512, cpu_limit: 2, queue_cpu: 1, memory_limit_mb: 1024 },
    ],
    ['told with nulls', { cpu: 1 }, { cpu: 1, db_cpu: null, labels: null, something_newer: null }],
    ['told with empty lists', { cpu: 1 }, { cpu: 1, volumes: [], labels: {} }],
    ['a default that is asked for and not told', { cpu: 1, cpu_limit: 2 }, { cpu: 1 }],
    ['some of what is there', { cpu: 1 }, { cpu: 1, memory_mb: 512 }],
    ['a field that is not to be used', { orchestrator_cpu: 1 }, { cpu: 1 }],
    ['a null for what is not there', { cpu: 1, labels: null }, { cpu: 1 }],
    [
      'a container told with nulls and an empty value',
      { sidecars: [{ name: 'a', image: 'i', env: [{ name: 'E' }] }] },
      { sidecars: [{ name: 'a', image: 'i', command: null, env: [{ name: 'E', value: '', valueFrom: null }] }] },
    ],
  ])('are as asked: %s', (_, spec, held) => {
    expect(asked(spec, held)).toMatchObject({ kind: 'none' });
  });

  test.each<[string, DesiredExternalDocker['resourceSpec'], Record<string, unknown>, object, string[]]>([
    [
      'merged with what is there',
      { memory_mb: 1024 },
      { cpu: 1, memory_mb: 512, cpu_limit: 3 },
      { cpu: 1, memory_mb: 1024, cpu_limit: 3 },
      ['memory_mb', 'memory_limit_mb', 'queue_memory_mb', 'queue_memory_limit_mb'],
    ],
    [
      'rounded before they are sent',
      { cpu: 0.26, cpu_limit: 1 },
      { cpu: 0.2, cpu_limit: 1, queue_cpu: 1 },
      { cpu: 0.3, cpu_limit: 1, queue_cpu: 1 },
      ['cpu'],
    ],
    [
      'a default that the service filled in follows',
      { cpu: 2 },
      { cpu: 1, cpu_limit: 2, queue_cpu: 1, queue_cpu_limit: 2 },
      { cpu: 2 },
      ['cpu', 'cpu_limit', 'queue_cpu', 'queue_cpu_limit'],
    ],
    ['a null opens a field again', { labels: null }, { cpu: 1, labels: { a: 'b' } }, { cpu: 1 }, ['labels']],
    ['an empty map empties', { labels: {} }, { cpu: 1, labels: { a: 'b' } }, { cpu: 1, labels: {} }, ['labels']],
  ])('differ: %s', (_, spec, held, sent, fields) => {
    const planned = asked(spec, held);
    expect(request(planned)).toEqual({ source_config: { resource_spec: sent } });
    expect(changed(planned)).toEqual(fields.map((field) => `source_config.resource_spec.${field}`));
  });

  test('what is there and cannot be sent again stands in the way', () => {
    const held = { cpu: 1, sidecars: [{ name: 'a', image: 'i', lifecycle: {} }], newer: 3 };
    const planned = asked({ cpu: 2 }, held);
    expect(obstacles(planned).map(({ field }) => field)).toEqual(['source_config.resource_spec.sidecars']);
    expect(notes(asked({ cpu: 2, sidecars: [] }, held))).toContain('source_config.resource_spec.newer');
  });

  test('a mount without its volume is told before it is sent', () => {
    const planned = asked({ volume_mounts: [{ name: 'data', mountPath: '/data' }] }, { cpu: 1 });
    expect(obstacles(planned)[0]?.problem).toContain('no volume is named data');
  });

  test('no value of an environment is shown', () => {
    const planned = asked({ sidecars: [{ name: 'a', image: 'i', env: [{ name: 'E', value: 'hush' }] }] }, { cpu: 1 });
    expect(JSON.stringify(withoutRequest(planned))).not.toContain('hush');
  });
});

describe('a deployment that is not there', () => {
  const nothing: Seen = { commit: known };

  test('is created with all that was asked for', () => {
    const planned = plan(
      { ...github, buildOnPush: false, secrets: [{ name: 'TOKEN', value: 'hush' }] },
      { ...nothing, integration: { kind: 'one', id: 'i1', why: 'the one that reaches it' } },
    );
    expect(request(planned)).toEqual({
      name: 'agent',
      source: 'github',
      source_config: { integration_id: 'i1', repo_url: 'https://github.com/acme/agent', build_on_push: false },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
      secrets: [{ name: 'TOKEN', value: 'hush' }],
    });
    expect(notes(planned)).toBe('the one that reaches it');
    expect(JSON.stringify(withoutRequest(planned))).not.toContain('hush');
  });

  test('of an image, with its resources', () => {
    const planned = plan(
      { ...docker, k8sNamespace: 'agents', resourceSpec: { cpu: 0.25 } },
      { ...nothing, listener: { kind: 'none', why: 'there is no listener' } },
    );
    expect(request(planned)).toEqual({
      name: 'agent',
      source: 'external_docker',
      source_config: { listener_config: { k8s_namespace: 'agents' }, resource_spec: { cpu: 0.3 } },
      source_revision_config: { image_uri: 'registry.test/agent:1' },
      secrets: [],
    });
  });

  test.each<[string, DesiredGithub | DesiredExternalDocker, Partial<Seen>, string[]]>([
    [
      'without repository, ref and graph configuration',
      { source: 'github', name: 'agent', rebuild: 'auto', secretsStrategy: 'merge' },
      {},
      ['source_config.repo_url', 'source_revision_config.repo_ref', 'source_revision_config.graph_config_path'],
    ],
    [
      'without an image',
      { source: 'external_docker', name: 'agent', secretsStrategy: 'merge' },
      {},
      ['source_revision_config.image_uri'],
    ],
    ['without a name', { source: 'external_docker', imageUri: 'a:1', secretsStrategy: 'merge' }, {}, ['name']],
    [
      'with several integrations to choose from',
      github,
      {
        integration: {
          kind: 'choices',
          choices: [
            { id: 'i1', name: 'acme' },
            { id: 'i2', name: 'beta' },
          ],
        },
      },
      ['source_config.integration_id'],
    ],
    [
      'with several listeners to choose from',
      docker,
      {
        listener: {
          kind: 'choices',
          choices: [
            { id: 'l1', name: 'east' },
            { id: 'l2', name: 'west' },
          ],
        },
      },
      ['source_config.listener_id'],
    ],
    [
      'building a tag on push',
      { ...github, repoRef: 'refs/tags/v1', buildOnPush: true },
      {},
      ['source_config.build_on_push'],
    ],
  ])('cannot be created %s', (_, desired, actual, fields) => {
    const found = obstacles(plan(desired, { ...nothing, ...actual }));
    expect(found.map(({ field }) => field)).toEqual(fields);
  });

  test('the choices are listed', () => {
    const choices = [
      { id: 'l1', name: 'east' },
      { id: 'l2', name: 'west' },
    ];
    const [found] = obstacles(plan(docker, { ...nothing, listener: { kind: 'choices', choices } }));
    expect(found?.problem).toContain('east (l1), west (l2)');
    expect(found?.advice).toContain('listener-id');
  });
});
