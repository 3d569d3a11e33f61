import { describe, expect, test } from 'vitest';
import type { DeploymentCreateRequest } from '../../../../src/contract/control/deployment.ts';
import {
  checkCreate,
  readCreate,
  type CreateFacts,
} from '../../../../src/services/control/deployments/validation/create.ts';

type Changes = Partial<DeploymentCreateRequest>;

const facts: CreateFacts = {
  integrationKnown: true,
  listener: undefined,
  hosting: 'any',
  graphConfigLater: false,
  allowGit: ['/srv/git'],
};
const repository = { repo_url: 'https://example.com/acme/agent' };
const branch = { repo_ref: 'main', graph_config_path: 'graph.json' };
const fromGit = (more: Changes = {}): DeploymentCreateRequest => ({
  name: 'agent',
  source: 'github',
  source_config: repository,
  source_revision_config: branch,
  secrets: [],
  ...more,
});
const fromImage = (source_config: Changes['source_config'] = {}, more: Changes = {}): DeploymentCreateRequest =>
  fromGit({ source: 'external_docker', source_config, source_revision_config: { image_uri: 'a:1' }, ...more });
const fromUpload = (more: Changes['source_revision_config'] = {}): DeploymentCreateRequest =>
  fromGit({ source: 'internal_source', source_config: {}, source_revision_config: more });

const refused = (detail: string) => ({ ok: false, refusal: { status: 400, detail } });
const id = '8b6e4c1e-0000-4000-8000-000000000001';
const k8s = (...k8s_namespaces: string[]) => ({
  listener: { compute_type: 'k8s', compute_config: { k8s_namespaces } },
});
const namespace = 'source_config.listener_config.k8s_namespace';

describe('a creation that is refused', () => {
  test.each<[string, DeploymentCreateRequest, Partial<CreateFacts>, string]>([
    [
      'a name',
      fromGit({ name: 'a'.repeat(22) }),
      { hosting: 'self-hosted' },
      'name may have at most 21 characters; this one has 22. source github is only available for Cloud SaaS deployments, and this service was started with --hosting self-hosted.',
    ],
    ['no repository', fromGit({ source_config: {} }), {}, 'source_config.repo_url is required with the source github.'],
    [
      'neither a ref nor a graph configuration',
      fromGit({ source_revision_config: {} }),
      {},
      'source_revision_config.repo_ref is required with the source github. source_revision_config.graph_config_path is required with the source github.',
    ],
    [
      'no graph configuration of github, though an upload may bring one',
      fromGit({ source_revision_config: { repo_ref: 'main' } }),
      { graphConfigLater: true },
      'source_revision_config.graph_config_path is required with the source github.',
    ],
    [
      'no graph configuration of an upload',
      fromUpload(),
      {},
      'source_revision_config.graph_config_path is required with the source internal_source.',
    ],
    [
      'a field of another source',
      fromImage(repository),
      {},
      'source_config.repo_url is for github: leave it out or null with the source external_docker.',
    ],
    [
      'a text that is too long, and nothing else is looked at',
      fromGit({ name: '-', source_config: { repo_url: `https://${'a'.repeat(4090)}` } }),
      {},
      'source_config.repo_url may have at most 4096 characters; this one has 4098.',
    ],
    [
      'a ref',
      fromGit({ source_revision_config: { ...branch, repo_ref: 'refs/remotes/origin/main' } }),
      {},
      'source_revision_config.repo_ref: refs/remotes/origin/main is neither a branch nor a tag. Did you mean main?',
    ],
    [
      'a ref without a suggestion',
      fromGit({ source_revision_config: { ...branch, repo_ref: 'refs/x' } }),
      {},
      'source_revision_config.repo_ref: refs/x is neither a branch nor a tag.',
    ],
    [
      'a repository',
      fromGit({ source_config: { repo_url: 'https://example.com/' } }),
      {},
      'source_config.repo_url names a host but no repository on it.',
    ],
    [
      'an unknown integration',
      fromGit({ source_config: { ...repository, integration_id: id } }),
      { integrationKnown: false },
      'source_config.integration_id is none of those that GET /v1/integrations/github/install lists.',
    ],
    ['an integration that cannot clone', fromGit(), { integrationProblem: 'It was suspended.' }, 'It was suspended.'],
    [
      'an upload before the deployment exists',
      fromUpload({ graph_config_path: 'graph.json', source_tarball_path: 'uploads/a' }),
      {},
      'source_revision_config.source_tarball_path was not issued by POST /deployments/{deployment_id}/upload-url for this deployment.',
    ],
    [
      'a tarball for github',
      fromGit({ source_revision_config: { ...branch, source_tarball_path: 'uploads/a' } }),
      {},
      'source_revision_config.source_tarball_path is for internal_source: leave it out or null with the source github.',
    ],
    [
      'an unknown listener',
      fromImage({ listener_id: id }),
      {},
      'source_config.listener_id is none of those that GET /v2/listeners lists.',
    ],
    [
      'a listener for github',
      fromGit({ source_config: { ...repository, listener_id: id } }),
      {},
      'source_config.listener_id is for external_docker: leave it out or null with the source github.',
    ],
    [
      'a namespace without a listener',
      fromImage({ listener_config: { k8s_namespace: 'a' } }),
      {},
      `${namespace} needs a source_config.listener_id.`,
    ],
    [
      'a namespace of another compute',
      fromImage({ listener_id: id, listener_config: { k8s_namespace: 'a' } }),
      { listener: { compute_type: 'vm', compute_config: {} } },
      `${namespace} is for listeners of the compute type k8s; this one's is vm.`,
    ],
    [
      'a namespace that the listener lacks',
      fromImage({ listener_id: id, listener_config: { k8s_namespace: 'c' } }),
      k8s('a', 'b'),
      `${namespace} must be one of the listener's namespaces: a, b.`,
    ],
    [
      'a tag that is built on push',
      fromGit({
        source_config: { ...repository, build_on_push: true },
        source_revision_config: { ...branch, repo_ref: 'refs/tags/v1' },
      }),
      {},
      'source_config.build_on_push cannot be true while source_revision_config.repo_ref is the tag refs/tags/v1: a tag does not move.',
    ],
  ])('%s', (_, request, more, detail) => expect(checkCreate(request, { ...facts, ...more })).toEqual(refused(detail)));
});

describe('a creation that is accepted', () => {
  test('with a body of the right shape', () => {
    expect(readCreate(fromGit())).toEqual({ ok: true, value: fromGit() });
    expect(readCreate({})).toMatchObject({ ok: false, refusal: { status: 422 } });
  });

  test.each<[string, DeploymentCreateRequest, Partial<CreateFacts>, object]>([
    [
      'from git, its ref in the document’s spelling',
      fromGit({ source_revision_config: { ...branch, repo_ref: 'refs/heads/main' } }),
      {},
      { source_config: repository, source_revision_config: branch },
    ],
    [
      'without an integration, though none is known',
      fromGit(),
      { integrationKnown: false },
      { source_config: repository, source_revision_config: branch },
    ],
    [
      'from a folder that is allowed',
      fromGit({ source_config: { repo_url: '/srv/git/a' } }),
      {},
      { source_config: { repo_url: '/srv/git/a' } },
    ],
    [
      'an upload whose graph configuration comes later',
      fromUpload(),
      { graphConfigLater: true },
      { source_revision_config: {} },
    ],
    [
      'a listener without a namespace',
      fromImage({ listener_id: id, listener_config: {} }),
      k8s('a'),
      { source_config: { listener_id: id, listener_config: {} } },
    ],
    [
      'a namespace of its listener',
      fromImage({ listener_id: id, listener_config: { k8s_namespace: 'a' } }),
      k8s('b', 'a'),
      {},
    ],
    [
      'any namespace of a listener whose namespaces are not known',
      fromImage({ listener_id: id, listener_config: { k8s_namespace: 'a' } }),
      { listener: { compute_type: 'k8s', compute_config: {} } },
      {},
    ],
    [
      'any namespace of a listener that names none',
      fromImage({ listener_id: id, listener_config: { k8s_namespace: 'a' } }),
      k8s(),
      {},
    ],
    [
      'a variable without a value, which is empty',
      fromImage({ resource_spec: { sidecars: [{ name: 'a', image: 'b', env: [{ name: 'A' }] }] } }),
      {},
      { source_config: { resource_spec: { sidecars: [{ name: 'a', image: 'b', env: [{ name: 'A', value: '' }] }] } } },
    ],
    [
      'references to secrets',
      fromImage({}, { secret_references: [{ name: 'A', secret_name: 'b', secret_key: 'c' }] }),
      {},
      { secret_references: [{ name: 'A', secret_name: 'b', secret_key: 'c' }] },
    ],
  ])('%s', (_, request, more, requested) => {
    const { name, source, source_config, source_revision_config, secrets, secret_references = null } = request;
    expect(checkCreate(request, { ...facts, ...more })).toEqual({
      ok: true,
      value: { name, source, source_config, source_revision_config, secrets, secret_references, ...requested },
    });
  });
});
