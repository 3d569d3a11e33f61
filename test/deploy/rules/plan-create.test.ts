import { describe, expect, test } from 'vitest';
import type { Desired, DesiredExternalDocker, DesiredGithub } from '../../../src/deploy/file/desired.ts';
import { plan } from '../../../src/deploy/rules/plan.ts';
import type { ObservedState, PlanNote } from '../../../src/deploy/rules/plan-types.ts';
import { known, github, docker, request, obstacles, notes, shown } from './plan-cases.ts';

describe('a deployment that does not exist', () => {
  const note: PlanNote = { code: 'listener-found', name: 'east' };
  const nothing: ObservedState = { commit: known };
  const tarball = { digest: `sha256:${'a'.repeat(64)}`, size: 9, files: 1, leftOut: [] };

  test('is created with all requested fields', () => {
    const planned = plan(
      { ...github, buildOnPush: false, secrets: [{ name: 'TOKEN', value: 'hush' }] },
      { ...nothing, integration: { kind: 'one', id: 'i1', note } },
    );
    expect(request(planned)).toEqual({
      name: 'agent',
      source: 'github',
      source_config: { integration_id: 'i1', repo_url: 'https://github.com/acme/agent', build_on_push: false },
      source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
      secrets: [{ name: 'TOKEN', value: 'hush' }],
    });
    expect(notes(planned)).toEqual([note]);
    expect(shown(planned)).not.toContain('hush');
  });

  test('of an image, with its resources', () => {
    const planned = plan(
      { ...docker, k8sNamespace: 'agents', resourceSpec: { cpu: 0.25 } },
      { ...nothing, listener: { kind: 'none', note: { code: 'ids-absent', of: 'listener' } } },
    );
    expect(request(planned)).toEqual({
      name: 'agent',
      source: 'external_docker',
      source_config: { listener_config: { k8s_namespace: 'agents' }, resource_spec: { cpu: 0.3 } },
      source_revision_config: { image_uri: 'registry.test/agent:1' },
      secrets: [],
    });
  });

  test.each<[string, DesiredGithub | DesiredExternalDocker, Partial<ObservedState>, string[]]>([
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
    [
      'without anything, whatever else is found',
      { source: 'external_docker', secretsStrategy: 'merge' },
      { integration: { kind: 'choices', choices: [{ id: 'i1', name: 'acme' }] } },
      ['name', 'source_revision_config.image_uri'],
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

  test('lists the choices, and names what is missing', () => {
    const choices = [
      { id: 'l1', name: 'east' },
      { id: 'l2', name: 'west' },
    ];
    const { imageUri: _, ...requested } = docker;
    expect(obstacles(plan(requested, { ...nothing, listener: { kind: 'choices', choices } }))).toEqual([
      {
        field: 'source_revision_config.image_uri',
        code: 'missing',
        source: 'external_docker',
      },
      {
        field: 'source_config.listener_id',
        code: 'choices',
        choices,
      },
    ]);
  });

  const found = { kind: 'one', id: 'x1', note } as const;
  const choices = { kind: 'choices', choices: [{ id: 'x1', name: 'a' }] } as const;
  const folder: Desired = {
    source: 'internal_source',
    name: 'agent',
    sourceDir: '.',
    graphConfigPath: 'langgraph.json',
    secretsStrategy: 'merge',
    rebuild: 'auto',
  };
  const pushed: Desired = { source: 'internal_docker', name: 'agent', imageUri: 'a:1', secretsStrategy: 'merge' };
  test.each<[what: string, desired: Desired, actual: Partial<ObservedState>, sourceConfig: object, noted: PlanNote[]]>([
    ['the integration that is found', github, { integration: found }, { integration_id: 'x1' }, [note]],
    ['the given integration', { ...github, integrationId: 'i2' }, { integration: found }, { integration_id: 'i2' }, []],
    ['no integration, and why', github, { integration: { kind: 'none', note } }, {}, [note]],
    ['no listener of a repository', github, { listener: choices }, {}, []],
    ['the listener that is found', docker, { listener: found }, { listener_id: 'x1' }, [note]],
    ['the given listener', { ...docker, listenerId: 'l2' }, { listener: found }, { listener_id: 'l2' }, []],
    ['no integration of an image', docker, { integration: choices }, {}, []],
    ['neither of a pushed image', pushed, { integration: found, listener: found }, {}, []],
    ['neither of a folder', folder, { integration: found, listener: found, tarball }, {}, []],
  ])('has %s', (_, desired, actual, sourceConfig, noted) => {
    const planned = plan(desired, { ...nothing, ...actual });
    const repository = desired.source === 'github' ? { repo_url: 'https://github.com/acme/agent' } : {};
    expect(request(planned)?.source_config).toEqual({ ...repository, ...sourceConfig });
    expect(notes(planned)).toEqual(noted);
  });

  const change = (field: string, to: string, makesRevision = false, code = 'created') => ({
    field,
    from: undefined,
    to,
    makesRevision,
    why: { code },
  });
  const secretReferences = [{ name: 'B', secret_name: 's', secret_key: 'k' }];
  const secrets = [{ name: 'A', value: 'hush' }];
  const deployment = (source: string) => [change('name', 'agent'), change('source', source)];
  test.each<[what: string, desired: Desired, actual: Partial<ObservedState>, changes: object[]]>([
    [
      'an image',
      { ...docker, resourceSpec: { cpu: 1, labels: { a: 'b' } }, secrets, secretReferences },
      {},
      [
        ...deployment('external_docker'),
        change('source_revision_config.image_uri', 'registry.test/agent:1', true),
        change('source_config.resource_spec.cpu', '1', true),
        change('source_config.resource_spec.labels', 'set', true),
        change('secrets.A', 'set', true),
        change('secret_references.B', 's/k'),
      ],
    ],
    [
      'a folder',
      folder,
      { tarball },
      [
        ...deployment('internal_source'),
        change('source_revision_config.graph_config_path', 'langgraph.json', true),
        change(
          'source_revision_config.source_tarball_path',
          'sha256:aaaaaaaaaaaa (1 file, 9 bytes packed)',
          true,
          'uploaded-later',
        ),
      ],
    ],
  ])('says what %s is created with', (_, desired, actual, changes) => {
    const planned = plan(desired, { ...nothing, ...actual });
    expect(planned.kind === 'create' && planned.changes).toEqual(changes);
    expect(request(planned)?.secret_references).toEqual(
      desired.source === 'external_docker' ? secretReferences : undefined,
    );
  });
});
