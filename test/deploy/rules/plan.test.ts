import { describe, expect, test } from 'vitest';
import type { DesiredExternalDocker, DesiredGithub } from '../../../src/deploy/file/desired.ts';
import { plan } from '../../../src/deploy/rules/plan.ts';
import { github, docker, built, image, seen, seenImage, changed, request, obstacles, notes } from './plan-cases.ts';

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
  ])('%s', (_, requested, fields, makesRevision) => {
    const planned = plan({ ...github, ...requested }, seen);
    expect(changed(planned)).toEqual(fields);
    expect(planned.kind).toBe(fields.length > 0 ? 'patch' : 'none');
    expect(planned.kind === 'patch' && planned.makesRevision).toBe(makesRevision);
  });

  test('sends only what differs, and each change says from, to and why', () => {
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
        why: { code: 'differs', patch: 'in-place' },
      },
      {
        field: 'source_revision_config.repo_ref',
        from: 'main',
        to: 'next',
        makesRevision: true,
        why: { code: 'differs', patch: 'revision' },
      },
    ]);
    expect(planned.kind === 'patch' && planned.formerLatestRevisionId).toBe('r1');
  });

  test('keeps fields that are not requested', () => {
    const desired: DesiredGithub = { source: 'github', name: 'agent', secretsStrategy: 'merge', rebuild: 'auto' };
    expect(plan(desired, seen).kind).toBe('none');
  });

  test('a full ref is the same as its branch', () => {
    const source_revision_config = { ...built.source_revision_config, repo_ref: 'refs/heads/main' };
    expect(plan(github, { ...seen, deployment: { ...built, source_revision_config } }).kind).toBe('none');
  });

  test('notes a command that takes effect with the next revision', () => {
    expect(notes(plan({ ...github, buildCommand: 'make', installCommand: 'npm ci', buildOnPush: true }, seen))).toEqual(
      [{ code: 'later-effect', fields: ['source_config.install_command', 'source_config.build_command'] }],
    );
    expect(notes(plan({ ...github, buildCommand: 'npm run build', repoRef: 'next' }, seen))).toEqual([]);
  });
});

describe('what cannot be changed', () => {
  const id = '8b6e4c1e-0000-4000-8000-000000000002';
  test.each<[string, Partial<DesiredGithub>, string, string]>([
    ['another repository', { repoUrl: 'https://github.com/acme/other' }, 'source_config.repo_url', 'fixed'],
    ['another deployment type', { deploymentType: 'prod' }, 'source_config.deployment_type', 'fixed'],
    ['another integration', { integrationId: id }, 'source_config.integration_id', 'fixed'],
    ['another name than that of the given id', { name: 'other', deploymentId: 'd1' }, 'name', 'other-name'],
    [
      'building a tag on push',
      { repoRef: 'refs/tags/v1', buildOnPush: true },
      'source_config.build_on_push',
      'tag-on-push',
    ],
  ])('%s', (_, requested, field, code) => {
    expect(obstacles(plan({ ...github, ...requested }, seen))).toMatchObject([{ field, code }]);
  });

  test.each<[string, Partial<DesiredExternalDocker>, string]>([
    ['a listener where there is none', { listenerId: id }, 'source_config.listener_id'],
    ['a namespace where one is set', { k8sNamespace: 'b' }, 'source_config.listener_config.k8s_namespace'],
  ])('%s', (_, requested, field) => {
    const deployment = { ...image, source_config: { ...image.source_config, listener_config: { k8s_namespace: 'a' } } };
    expect(
      obstacles(plan({ ...docker, ...requested }, { ...seenImage, deployment })).map((each) => each.field),
    ).toEqual([field]);
  });

  test('another source is the only difference: nothing else can be compared', () => {
    expect(obstacles(plan(docker, seen))).toEqual([
      { field: 'source', code: 'other-source', from: 'github', to: 'external_docker' },
    ]);
  });

  test('another source, although a field could not be changed either', () => {
    const deployment = { ...image, source_config: { repo_url: null } };
    expect(obstacles(plan(github, { ...seenImage, deployment })).map(({ field }) => field)).toEqual(['source']);
  });

  test('compares the name with that of the given id only where a name is given', () => {
    expect(obstacles(plan({ ...github, name: 'other', deploymentId: 'd1' }, seen))).toEqual([
      { field: 'name', code: 'other-name', name: 'agent' },
    ]);
    const { name: _, ...unnamed } = github;
    expect(plan({ ...unnamed, deploymentId: 'd1' }, seen).kind).toBe('none');
  });

  const onTag = { ...built.source_revision_config, repo_ref: 'refs/tags/v1' };
  const onPush = { ...built.source_config, build_on_push: true };
  const { repoRef: _ref, ...unchanged } = github;
  test.each<[isRequested: boolean | undefined, requested: DesiredGithub, deployment: typeof built]>([
    [true, { ...github, repoRef: 'refs/tags/v1', buildOnPush: true }, built],
    [true, { ...unchanged, buildOnPush: true }, { ...built, source_revision_config: onTag }],
    [false, { ...github, repoRef: 'refs/tags/v1' }, { ...built, source_config: onPush }],
    [undefined, { ...github, repoRef: 'refs/tags/v1', buildOnPush: false }, { ...built, source_config: onPush }],
    [undefined, unchanged, { ...built, source_config: onPush, source_revision_config: onTag }],
  ])('a tag that is built on push, where that is requested: %s (%#)', (isRequested, requested, deployment) =>
    expect(obstacles(plan(requested, { ...seen, deployment }))).toEqual(
      isRequested === undefined
        ? []
        : [{ field: 'source_config.build_on_push', code: 'tag-on-push', ref: 'refs/tags/v1', isRequested }],
    ),
  );

  test('reports all obstacles at once', () => {
    const found = obstacles(
      plan({ ...github, name: 'x', repoUrl: 'https://github.com/a/b', deploymentType: 'prod' as const }, seen),
    );
    expect(found.map(({ field }) => field)).toEqual([
      'name',
      'source_config.repo_url',
      'source_config.deployment_type',
    ]);
  });

  test('keeps a fixed field that the service does not report, with a note', () => {
    const deployment = { ...built, source_config: { repo_url: 'https://github.com/acme/agent' } };
    const planned = plan({ ...github, deploymentType: 'prod' as const }, { ...seen, deployment });
    expect(planned.kind).toBe('none');
    expect(notes(planned)).toEqual([{ code: 'field-unreported', field: 'source_config.deployment_type' }]);
  });

  test.each(['AWAITING_DELETE', 'AWAITING_FINAL_DELETE'])('a deployment that is being deleted (%s)', (status) => {
    expect(obstacles(plan(github, { ...seen, deployment: { ...built, status } }))).toEqual([
      { field: 'status', code: 'being-deleted', status },
    ]);
  });

  test('shows no password of an address', () => {
    const [found] = obstacles(plan({ ...github, repoUrl: 'https://me:hush@github.com/acme/other' }, seen));
    expect(JSON.stringify(found)).not.toContain('hush');
  });
});
