import { expect, test } from 'vitest';
import type { DeploymentPatchRequest } from '../../../src/contract/control/deployment.ts';
import { carriesSource, holdsSettings } from '../../../src/deploy/rules/find-made.ts';
import { image } from './plan-cases.ts';

type Source = NonNullable<DeploymentPatchRequest['source_revision_config']>;

test.each<[what: string, requested: Source | undefined, digest: string | undefined, carried: boolean]>([
  ['no source', undefined, undefined, true],
  ['what is null', { image_uri: null, repo_ref: null }, undefined, true],
  ['a ref in another spelling', { repo_ref: 'refs/heads/main' }, undefined, true],
  ['another ref', { repo_ref: 'next' }, undefined, false],
  ['a field that the revision does not report', { image_uri: 'a:1' }, undefined, false],
  ['a field with the value of another', { image_uri: 'main' }, undefined, false],
  ['an upload at another path with the same digest', { source_tarball_path: 'uploads/2' }, 'sha256:a', true],
  ['an upload at another path with another digest', { source_tarball_path: 'uploads/2' }, 'sha256:b', false],
  ['that upload with another ref', { source_tarball_path: 'uploads/2', repo_ref: 'next' }, 'sha256:a', false],
])('a revision carries %s: %4$s', (_, requested, digest, carried) => {
  const source_revision_config = {
    repo_ref: 'main',
    source_tarball_path: 'uploads/1',
    source_tarball_digest: 'sha256:a',
  };
  const revision = { id: 'r1', status: 'QUEUED', source_revision_config };
  expect(carriesSource({ source_revision_config: requested }, revision, digest)).toBe(carried);
});

test('an upload at another path is not carried where neither digest is known', () => {
  const revision = { id: 'r1', status: 'QUEUED', source_revision_config: { source_tarball_path: 'uploads/1' } };
  expect(carriesSource({ source_revision_config: { source_tarball_path: 'uploads/2' } }, revision)).toBe(false);
});

const reference = { name: 'A', secret_name: 's', secret_key: 'k' };
const held = {
  ...image,
  source_config: {
    ...image.source_config,
    build_on_push: false,
    install_command: 'npm ci',
    listener_config: { k8s_namespace: 'agents' },
  },
  secret_references: [reference],
};

test.each<[what: string, request: DeploymentPatchRequest, holds: boolean]>([
  ['nothing', {}, true],
  ['nulls', { source_config: null, secrets: null, secret_references: null }, true],
  ['a null of a setting', { source_config: { install_command: null, listener_config: null } }, true],
  ['the same address', { source_config: { custom_url: 'https://agent.test/' } }, true],
  ['another address', { source_config: { custom_url: 'https://other.test' } }, false],
  ['the same switch', { source_config: { build_on_push: false } }, true],
  ['another switch', { source_config: { build_on_push: true } }, false],
  [
    'one setting that is held and one that is not',
    { source_config: { install_command: 'npm ci', build_command: 'make' } },
    false,
  ],
  ['the same namespace', { source_config: { listener_config: { k8s_namespace: 'agents' } } }, true],
  ['another namespace', { source_config: { listener_config: { k8s_namespace: 'b' } } }, false],
  ['the same resources', { source_config: { resource_spec: { cpu: 1, memory_mb: 512 } } }, true],
  ['other resources', { source_config: { resource_spec: { cpu: 2, memory_mb: 512 } } }, false],
  ['the same secrets', { secrets: [{ name: 'TOKEN', value: 'one' }] }, true],
  ['one secret less', { secrets: [] }, false],
  ['the same references', { secret_references: [reference] }, true],
  ['other references', { secret_references: [] }, false],
])('a deployment holds %s: %3$s', (_, request, holds) => expect(holdsSettings(request, held)).toBe(holds));
