import { describe, expect, test } from 'vitest';
import {
  missingSource,
  checkRedeploy,
  type EarlierRevision,
} from '../../../../src/services/control/deployments/validation/redeploy.ts';
import type { RequestedDeployment } from '../../../../src/services/control/deployments/validation/requested-deployment.ts';

const current: RequestedDeployment = {
  source_config: { repo_url: 'https://example.com/acme/agent', install_command: 'npm ci', resource_spec: { cpu: 2 } },
  source_revision_config: { repo_ref: 'main', graph_config_path: 'new.json' },
  secrets: [{ name: 'NEW', value: '1' }],
  secret_references: null,
};
const earlier: EarlierRevision = {
  id: 'r1',
  status: 'DEPLOYED',
  source: 'github',
  build_folder: 'builds/1',
  source_config: { repo_url: 'https://example.com/acme/agent', install_command: 'yarn', resource_spec: { cpu: 1 } },
  source_revision_config: { repo_ref: 'main', graph_config_path: 'old.json' },
  secrets: [{ name: 'OLD', value: '1' }],
  secret_references: [{ name: 'KEY', secret_name: 'agent', secret_key: 'key' }],
};
const image: EarlierRevision = {
  ...earlier,
  source: 'internal_docker',
  build_folder: null,
  source_revision_config: { image_uri: 'registry.example.com/a:1' },
};

describe('a redeployment', () => {
  test('reuses the earlier revision, but keeps build settings and what changes in place', () => {
    expect(checkRedeploy(current, earlier)).toEqual({
      ok: true,
      value: {
        source_config: { ...current.source_config, resource_spec: { cpu: 1 } },
        source_revision_config: earlier.source_revision_config,
        secrets: earlier.secrets,
        secret_references: earlier.secret_references,
      },
    });
  });

  test('has no resources where the earlier revision had none', () => {
    expect(checkRedeploy(current, { ...earlier, source_config: {} })).toMatchObject({
      value: { source_config: { resource_spec: null } },
    });
  });

  test('of an image needs no build', () => {
    expect(checkRedeploy(current, image)).toMatchObject({
      ok: true,
      value: { source_revision_config: image.source_revision_config },
    });
  });

  test.each<[what: string, EarlierRevision, detail: string]>([
    [
      'a build that failed',
      { ...earlier, status: 'BUILD_FAILED', build_folder: null },
      'The revision r1 has no build that could be deployed again (it ended BUILD_FAILED). Choose one that was live.',
    ],
    [
      'a build of an upload that has not ended',
      { ...earlier, source: 'internal_source', status: 'BUILDING', build_folder: null },
      'The revision r1 has no build yet: it is BUILDING. Wait for its end.',
    ],
    [
      'no image',
      { ...image, source_revision_config: {} },
      'The revision r1 has no image that could be deployed again. Choose one that was live.',
    ],
    [
      'values that are not allowed any more',
      { ...earlier, secrets: [{ name: 'DATABASE_URI', value: '1' }] },
      expect.stringContaining('DATABASE_URI'),
    ],
  ])('is refused for %s', (_, revision, detail) => {
    expect(checkRedeploy(current, revision)).toEqual({ ok: false, refusal: { status: 400, detail } });
  });
});

test.each<[what: string, Parameters<typeof missingSource>[0], string | undefined]>([
  [
    'an upload without a tarball',
    { source: 'internal_source', source_revision_config: {} },
    'It waits for the source: ask for an address with POST /v2/deployments/{deployment_id}/upload-url, put the tarball there, and name its object path as source_revision_config.source_tarball_path in a PATCH.',
  ],
  [
    'an upload with a tarball',
    { source: 'internal_source', source_revision_config: { source_tarball_path: 'uploads/1' } },
    undefined,
  ],
  [
    'an image of our own registry without an address',
    { source: 'internal_docker', source_revision_config: {} },
    'It waits for an image: push one and name it as source_revision_config.image_uri in a PATCH.',
  ],
  [
    'an image of our own registry with an address',
    { source: 'internal_docker', source_revision_config: { image_uri: 'a:1' } },
    undefined,
  ],
  ['a repository', { source: 'github', source_revision_config: {} }, undefined],
])('what %s waits for', (_, revision, expected) => expect(missingSource(revision)).toBe(expected));
