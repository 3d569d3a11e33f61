import { describe, expect, test } from 'vitest';
import {
  checkPatch,
  readPatch,
  type CurrentDeployment,
} from '../../../../src/services/control/deployments/validation/patch.ts';
import type { NamedTarball } from '../../../../src/services/control/deployments/validation/value-problems.ts';

const base = { name: 'agent', shownUrl: 'https://service.test/agents/d1', secrets: [], secret_references: null };
const git: CurrentDeployment = {
  ...base,
  source: 'github',
  source_config: { repo_url: 'https://example.com/acme/agent', install_command: 'npm ci' },
  source_revision_config: { repo_ref: 'main', graph_config_path: 'graph.json' },
};
const image: CurrentDeployment = {
  ...base,
  source: 'external_docker',
  source_config: { custom_url: base.shownUrl, listener_config: { k8s_namespace: 'agents' } },
  source_revision_config: { image_uri: 'a:1' },
};
const upload: CurrentDeployment = { ...base, source: 'internal_source', source_config: {}, source_revision_config: {} };
const tarball = { source_revision_config: { source_tarball_path: 'uploads/d1/1' } };

const judged = (current: CurrentDeployment, body: unknown, stored?: NamedTarball) => {
  const read = readPatch(body);
  return read.ok ? checkPatch(current, read.value, stored) : read;
};

test('takes back the name of a branch as it was read', () => {
  const ref = { repo_ref: 'a'.repeat(40) };
  const read = { ...git, source_revision_config: { ...git.source_revision_config, ...ref } };
  expect(judged(read, { source_revision_config: ref })).toMatchObject({ ok: true });
  expect(judged(git, { source_revision_config: ref })).toMatchObject({ ok: false });
});

describe('a change that is refused', () => {
  test.each<[string, CurrentDeployment, object, NamedTarball | undefined, string]>([
    [
      'another name and source',
      git,
      { name: 'other', source: 'internal_docker' },
      undefined,
      'name was set on create and cannot be changed: it is "agent". source was set on create and cannot be changed: it is "github".',
    ],
    [
      'a fixed field',
      git,
      { source_config: { repo_url: 'https://example.com/b' } },
      undefined,
      'source_config.repo_url was set on create and cannot be changed: it is "https://example.com/acme/agent".',
    ],
    [
      'a fixed field that was left open',
      git,
      { source_config: { deployment_type: 'dev' } },
      undefined,
      'source_config.deployment_type was set on create and cannot be changed: it is null.',
    ],
    [
      'another namespace',
      image,
      { source_config: { listener_config: { k8s_namespace: 'b' } } },
      undefined,
      'source_config.listener_config.k8s_namespace was set on create and cannot be changed: it is "agents".',
    ],
    [
      'a field of another source',
      git,
      { source_revision_config: { image_uri: 'a:2' } },
      undefined,
      'source_revision_config.image_uri is for external_docker and internal_docker: leave it out or null with the source github.',
    ],
    [
      'a fixed field of another source, once',
      image,
      { source_config: { repo_url: 'https://example.com/b' } },
      undefined,
      'source_config.repo_url is for github: leave it out or null with the source external_docker.',
    ],
    [
      'another address than the shown one',
      git,
      { source_config: { custom_url: 'https://a.test' } },
      undefined,
      'source_config.custom_url is for external_docker: leave it out or null with the source github.',
    ],
    [
      'a tarball for an image',
      image,
      tarball,
      undefined,
      'source_revision_config.source_tarball_path is for internal_source: leave it out or null with the source external_docker.',
    ],
    [
      'fields of another source beside the shown address',
      git,
      {
        source_config: { custom_url: git.shownUrl, resource_spec: { cpu: 1 } },
        source_revision_config: { image_uri: 'a:2' },
      },
      undefined,
      'source_config.resource_spec is for external_docker: leave it out or null with the source github. source_revision_config.image_uri is for external_docker and internal_docker: leave it out or null with the source github.',
    ],
    [
      'a revision from another source',
      git,
      { revision_source: 'internal_source' },
      undefined,
      "revision_source: this service makes every revision from the deployment's own source, github.",
    ],
    [
      'a ref',
      git,
      { source_revision_config: { repo_ref: 'refs/remotes/origin/main' } },
      undefined,
      'source_revision_config.repo_ref: refs/remotes/origin/main is neither a branch nor a tag. Did you mean main?',
    ],
    [
      'a text that is too long, and nothing else is looked at',
      git,
      { name: 'other', source_config: { install_command: 'a'.repeat(4097) } },
      undefined,
      'source_config.install_command may have at most 4096 characters; this one has 4097.',
    ],
    [
      'a tarball of nowhere',
      { ...upload, source_revision_config: { graph_config_path: 'g.json' } },
      tarball,
      undefined,
      'source_revision_config.source_tarball_path was not issued by POST /deployments/{deployment_id}/upload-url for this deployment.',
    ],
    [
      'a tarball without a graph configuration',
      upload,
      tarball,
      'stored',
      'source_revision_config.graph_config_path is required beside source_tarball_path: the deployment was created without one.',
    ],
    [
      'a tarball for github',
      git,
      tarball,
      undefined,
      'source_revision_config.source_tarball_path is for internal_source: leave it out or null with the source github.',
    ],
    [
      'a tag that is built on push',
      { ...git, source_config: { ...git.source_config, build_on_push: true } },
      { source_revision_config: { repo_ref: 'refs/tags/v1' } },
      undefined,
      'source_config.build_on_push cannot be true while source_revision_config.repo_ref is the tag refs/tags/v1: a tag does not move.',
    ],
  ])('%s', (_, current, body, stored, detail) =>
    expect(judged(current, body, stored)).toEqual({ ok: false, refusal: { status: 400, detail } }),
  );

  test('of a wrong shape', () => {
    expect(judged(git, { secrets: 'none' })).toMatchObject({ ok: false, refusal: { status: 422 } });
  });
});

describe('a change that is accepted', () => {
  test.each<[string, CurrentDeployment, object, object, string[]]>([
    ['nothing', git, {}, {}, []],
    ['secrets of an upload without a graph configuration', upload, { secrets: [] }, {}, ['secrets']],
    [
      'a listener’s settings that are empty',
      { ...image, source_config: {} },
      { source_config: { listener_config: {} } },
      { source_config: { listener_config: {} } },
      [],
    ],
    ['nulls', git, { source_config: { install_command: null }, source_revision_config: null, secrets: null }, {}, []],
    [
      'what is fixed, repeated',
      git,
      {
        name: 'agent',
        source: 'github',
        revision_source: 'github',
        source_config: { repo_url: git.source_config.repo_url },
      },
      {},
      [],
    ],
    ['the shown address, which is not stored', git, { source_config: { custom_url: git.shownUrl } }, {}, []],
    [
      'another command',
      git,
      { source_config: { install_command: 'npm install' } },
      { source_config: { ...git.source_config, install_command: 'npm install' } },
      [],
    ],
    [
      'another branch, in the document’s spelling',
      git,
      { source_revision_config: { repo_ref: 'refs/heads/next' } },
      { source_revision_config: { repo_ref: 'next', graph_config_path: 'graph.json' } },
      ['source_revision_config.repo_ref'],
    ],
    ['the same branch', git, { source_revision_config: { repo_ref: 'main' } }, {}, ['source_revision_config.repo_ref']],
    [
      'other secrets',
      git,
      { secrets: [{ name: 'A', value: 'b' }] },
      { secrets: [{ name: 'A', value: 'b' }] },
      ['secrets'],
    ],
    [
      'another address',
      image,
      { source_config: { custom_url: 'https://a.test' } },
      { source_config: { ...image.source_config, custom_url: 'https://a.test' } },
      [],
    ],
    [
      'resources, which replace the former ones',
      { ...image, source_config: { ...image.source_config, resource_spec: { cpu: 1 } } },
      { source_config: { resource_spec: { sidecars: [{ name: 'a', image: 'b', env: [{ name: 'A' }] }] } } },
      {
        source_config: {
          ...image.source_config,
          resource_spec: { sidecars: [{ name: 'a', image: 'b', env: [{ name: 'A', value: '' }] }] },
        },
      },
      ['source_config.resource_spec'],
    ],
    [
      'a listener’s settings without a namespace',
      image,
      { source_config: { listener_config: { k8s_namespace: null } } },
      {},
      [],
    ],
    [
      'references to secrets',
      image,
      { secret_references: [{ name: 'A', secret_name: 'b', secret_key: 'c' }] },
      { secret_references: [{ name: 'A', secret_name: 'b', secret_key: 'c' }] },
      [],
    ],
    [
      'a tarball with its graph configuration',
      upload,
      { source_revision_config: { ...tarball.source_revision_config, graph_config_path: 'g.json' } },
      { source_revision_config: { ...tarball.source_revision_config, graph_config_path: 'g.json' } },
      ['source_revision_config.graph_config_path', 'source_revision_config.source_tarball_path'],
    ],
    [
      'another graph configuration without a tarball',
      upload,
      { source_revision_config: { graph_config_path: 'g.json' } },
      { source_revision_config: { graph_config_path: 'g.json' } },
      ['source_revision_config.graph_config_path'],
    ],
  ])('%s', (_, current, body, after, revisionFor) => {
    const { source_config, source_revision_config, secrets, secret_references } = current;
    expect(judged(current, body, 'stored')).toEqual({
      ok: true,
      value: {
        requested: { source_config, source_revision_config, secrets, secret_references, ...after },
        revisionFor,
      },
    });
  });
});
