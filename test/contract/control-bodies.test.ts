import { describe, expect, test } from 'vitest';
import { fieldAliases, spellFields } from '../../src/contract/control/aliases.ts';
import {
  agentAddress,
  deployment,
  deploymentCreateRequest,
  deploymentPatchRequest,
} from '../../src/contract/control/deployment.ts';
import { fieldRules, accepts } from '../../src/contract/control/field-rules.ts';
import { resourceSpec, withResourceDefaults } from '../../src/contract/control/resource-spec.ts';
import { sources } from '../../src/contract/control/source.ts';
import { revision } from '../../src/contract/control/revision.ts';
import { classOfRevisionStatus } from '../../src/contract/control/revision-status.ts';

const create = {
  name: 'support',
  source: 'external_docker',
  source_config: {},
  source_revision_config: { image_uri: 'a:1' },
  secrets: [],
};
const reply = {
  ...create,
  id: 'd1',
  tenant_id: 't1',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  status: 'READY',
  latest_revision_id: 'r1',
  active_revision_id: null,
};

describe('what is sent is strict', () => {
  test.each([
    ['an unknown field', { ...create, colour: 'red' }],
    ['a field of the answer', { ...create, source_revision_config: { repo_commit_sha: 'a' } }],
    ['a source that there is not', { ...create, source: 'gitlab' }],
    ['a kind that there is not', { ...create, source_config: { deployment_type: 'large' } }],
    [
      'a namespace that is no DNS label',
      { ...create, source_config: { listener_config: { k8s_namespace: 'My_Apps' } } },
    ],
    ['a secret without a value', { ...create, secrets: [{ name: 'A' }] }],
  ])('%s is refused', (_, body) => expect(deploymentCreateRequest.safeParse(body).success).toBe(false));

  test('a change may hold any part, and null for what stays as it is', () => {
    expect(deploymentPatchRequest.safeParse({ source_config: { build_on_push: false }, secrets: null }).success).toBe(
      true,
    );
  });
});

describe('what is read is lenient', () => {
  test('unknown fields pass, unknown words survive', () => {
    const reported = {
      ...reply,
      status: 'HIBERNATING',
      source: 'svn',
      colour: 'red',
      source_config: { deployment_type: 'huge' },
    };
    expect(deployment.parse(reported)).toEqual(reported);
    expect(revision.parse({ id: 'r', status: 'POLISHING', mood: 1 })).toMatchObject({ status: 'POLISHING', mood: 1 });
  });

  test('an unknown status is neither live nor failed', () => {
    expect(['DEPLOYED', 'DEPLOY_FAILED', 'SKIPPED', 'POLISHING', 'toString'].map(classOfRevisionStatus)).toEqual([
      'live',
      'failed',
      'superseded',
      'unknown',
      'unknown',
    ]);
  });

  test.each([
    ['its url', { url: 'https://a.test', source_config: { custom_url: 'https://b.test' } }, 'https://a.test'],
    ['else the custom one', { url: null, source_config: { custom_url: 'https://b.test' } }, 'https://b.test'],
    ['else no known address', { url: '', source_config: { custom_url: null } }, undefined],
  ])('the agent answers at %s', (_, reported, address) => expect(agentAddress(reported)).toBe(address));
});

describe('spellings', () => {
  const body = (config: object, spec: object) => ({
    source_config: { resource_spec: spec },
    source_revision_config: config,
  });

  test('all that differ are put into either one, and nothing else', () => {
    const contract = body({ graph_config_path: 'a', repo_ref: 'main' }, { cache_cpu: 1, cpu: 2 });
    const other = body({ langgraph_config_path: 'a', repo_ref: 'main' }, { redis_cpu: 1, cpu: 2 });
    expect([spellFields(contract, 'public'), spellFields(other, 'contract')]).toEqual([other, contract]);
    expect(spellFields([other], 'contract')).toEqual([contract]);
  });

  test('a name counts in its own object only', () => {
    const labels = { labels: { redis_cpu: 'a' }, redis_cpu: 1 };
    expect(spellFields({ resource_spec: labels }, 'contract')).toEqual({
      resource_spec: { labels: { redis_cpu: 'a' }, cache_cpu: 1 },
    });
  });

  test('every alias is a field of the contract', () => {
    const known = [...Object.keys(resourceSpec.shape), ...fieldRules.map(({ path }) => path.split('.').at(-1))];
    expect(fieldAliases.filter(({ contract }) => !known.includes(contract))).toEqual([]);
  });
});

describe('resources', () => {
  test.each([
    ['CPU to one decimal place', { cpu: 1.26 }, { cpu: 1.3 }],
    [
      'the least and the most CPU',
      { cpu: 0.1, queue_cpu: 8, cpu_limit: 16 },
      { cpu: 0.1, queue_cpu: 8, cpu_limit: 16 },
    ],
  ])('take %s', (_, spec, kept) => expect(resourceSpec.parse(spec)).toEqual(kept));

  test.each([
    ['less CPU than there is', { cpu: 0.04 }],
    ['more CPU than the maximum', { cache_cpu: 8.1 }],
    ['more CPU than the limit may be', { queue_cpu_limit: 16.5 }],
    ['half a replica', { min_scale: 0.5 }],
    ['memory below nothing', { memory_mb: -1 }],
    ['more connections than an integer of Postgres', { db_max_connections: 2_147_483_648 }],
    ['an unknown field', { gpu: 1 }],
    ['a volume whose name is no label', { volumes: [{ name: 'My_Volume' }] }],
    ['two volumes of one name', { volumes: [{ name: 'a' }, { name: 'a' }] }],
    ['a mount of no volume', { volume_mounts: [{ name: 'a', mountPath: '/a' }] }],
    [
      'a mount of no volume in a sidecar',
      { sidecars: [{ name: 's', image: 'i', volumeMounts: [{ name: 'a', mountPath: '/a' }] }] },
    ],
    [
      'two containers of one name',
      { init_containers: [{ name: 's', image: 'i' }], sidecars: [{ name: 's', image: 'i' }] },
    ],
    [
      'a variable with a value of two kinds',
      { sidecars: [{ name: 's', image: 'i', env: [{ name: 'A', value: 'a', valueFrom: {} }] }] },
    ],
  ])('do not take %s', (_, spec) => expect(resourceSpec.safeParse(spec).success).toBe(false));

  test('what is left open follows what it comes from', () => {
    expect(withResourceDefaults({ cpu: 1, memory_mb: 512, min_scale: 1, cache_memory_mb: 100, db_cpu: 0.25 })).toEqual({
      cpu: 1,
      cpu_limit: 2,
      memory_mb: 512,
      memory_limit_mb: 1024,
      min_scale: 1,
      queue_min_scale: 1,
      queue_cpu: 1,
      queue_cpu_limit: 2,
      queue_memory_mb: 512,
      queue_memory_limit_mb: 1024,
      cache_memory_mb: 100,
      cache_memory_limit_mb: 100,
      db_cpu: 0.25,
      db_cpu_limit: 0.5,
    });
  });
});

// Written down from the specification's tables, not derived from the rules that it checks.
describe('each field applies to the sources that the specification names', () => {
  test.each([
    ['name', 'github external_docker internal_docker internal_source'],
    ['source', 'github external_docker internal_docker internal_source'],
    ['secrets', 'github external_docker internal_docker internal_source'],
    ['secret_references', 'external_docker'],
    ['source_config.integration_id', 'github'],
    ['source_config.repo_url', 'github'],
    ['source_config.deployment_type', 'github internal_docker internal_source'],
    ['source_config.build_on_push', 'github'],
    ['source_config.custom_url', 'external_docker'],
    ['source_config.resource_spec', 'external_docker'],
    ['source_config.listener_id', 'external_docker'],
    ['source_config.listener_config.k8s_namespace', 'external_docker'],
    ['source_config.install_command', 'github internal_source'],
    ['source_config.build_command', 'github internal_source'],
    ['source_revision_config.repo_ref', 'github'],
    ['source_revision_config.graph_config_path', 'github internal_source'],
    ['source_revision_config.image_uri', 'external_docker internal_docker'],
    ['source_revision_config.source_tarball_path', 'internal_source'],
    ['source_revision_config.repo_commit_sha', 'github'],
  ])('%s: %s', (path, expected) => {
    const rule = fieldRules.find((each) => each.path === path);
    expect(sources.filter((source) => rule && accepts(rule, source)).toSorted()).toEqual(
      expected.split(' ').toSorted(),
    );
  });

  test('every field has a row above', () => expect(fieldRules).toHaveLength(19));
});
