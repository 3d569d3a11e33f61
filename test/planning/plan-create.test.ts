import { describe, expect, test } from 'vitest';
import type { DesiredExternalDocker, DesiredGithub } from '../../src/config/desired.ts';
import { plan } from '../../src/planning/plan.ts';
import { withoutRequest } from '../../src/planning/reported-plan.ts';
import type { Seen } from '../../src/planning/plan-types.ts';
import { known, github, docker, request, obstacles, notes } from './plan-cases.ts';

describe('a deployment that does not exist', () => {
  const nothing: Seen = { commit: known };

  test('is created with all requested fields', () => {
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

  test('lists the choices', () => {
    const choices = [
      { id: 'l1', name: 'east' },
      { id: 'l2', name: 'west' },
    ];
    const [found] = obstacles(plan(docker, { ...nothing, listener: { kind: 'choices', choices } }));
    expect(found?.problem).toContain('east (l1), west (l2)');
    expect(found?.advice).toContain('listener-id');
  });
});
