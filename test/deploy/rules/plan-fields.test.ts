import { expect, test } from 'vitest';
import {
  compareFields,
  fieldChange,
  heldAt,
  requestedFields,
  buildRequestFields,
  sameField,
  displayValue,
} from '../../../src/deploy/rules/plan-fields.ts';
import type { Desired } from '../../../src/deploy/file/desired.ts';
import { fieldRules } from '../../../src/contract/control/field-rules.ts';
import { built, docker, github, image } from './plan-cases.ts';

const id = '8b6e4c1e-0000-4000-8000-00000000000a';

test.each<[path: string, requested: string | boolean, held: unknown, same: boolean]>([
  ['source_config.repo_url', 'git@github.com:Acme/agent.git', 'https://github.com/acme/agent', true],
  ['source_config.repo_url', 'https://github.com/acme/other', 'https://github.com/acme/agent', false],
  ['source_config.integration_id', id.toUpperCase(), id, true],
  ['source_config.integration_id', id, id.toUpperCase(), true],
  ['source_config.integration_id', id, `${id}b`, false],
  ['source_config.listener_id', id.toUpperCase(), id, true],
  ['source_config.custom_url', 'https://a.test//', 'https://a.test', true],
  ['source_config.custom_url', 'https://a.test', 'https://a.test/', true],
  ['source_config.custom_url', 'https://a.test', 'https://A.test', false],
  ['source_revision_config.graph_config_path', '././a.json', 'a.json', true],
  ['source_revision_config.graph_config_path', 'a.json', '././a.json', true],
  ['source_revision_config.graph_config_path', 'b/./a.json', 'b/a.json', false],
  ['source_revision_config.repo_ref', 'refs/heads/main', 'main', true],
  ['source_revision_config.repo_ref', 'main', 'refs/heads/main', true],
  ['source_revision_config.repo_ref', 'tags/v1', 'tags/v1', true],
  ['source_revision_config.repo_ref', 'tags/v1', 'tags/v2', false],
  ['source_revision_config.image_uri', 'a:1', 'A:1', false],
  ['source_config.build_on_push', true, true, true],
  ['source_config.build_on_push', true, 'true', false],
  ['source_config.build_on_push', false, undefined, false],
  ['source_config.repo_url', 'https://github.com/acme/agent', null, false],
])('%s: %j is the same as %j: %s', (path, requested, held, same) =>
  expect(sameField(path, requested, held)).toBe(same),
);

const held = { source_config: { listener_config: null, custom_url: 'a' }, source_revision_config: {} };
test.each<[path: string, value: unknown]>([
  ['source_config.custom_url', 'a'],
  ['source_config.listener_config', null],
  ['source_config.listener_config.k8s_namespace', null],
  ['source_config.resource_spec.cpu', undefined],
  ['source_config.custom_url.length', undefined],
  ['source_config.toString', undefined],
  ['source_revision_config.repo_ref', undefined],
])('the service’s value at %s is %j', (path, value) => expect(heldAt(held, path)).toBe(value));

test.each<[path: string, value: unknown, text: string | undefined]>([
  ['source_config.custom_url', 'https://me:hush@a.test/b', 'https://a.test/b'],
  ['source_revision_config.repo_ref', 'main', 'main'],
  ['source_config.build_on_push', false, 'false'],
  ['source_config.resource_spec', { cpu: 1 }, '{"cpu":1}'],
  ['source_config.listener_id', null, undefined],
  ['source_config.listener_id', undefined, undefined],
])('%s with the value %j is shown as %j', (path, value, text) => expect(displayValue(path, value)).toBe(text));

test.each([
  ['revision', true],
  ['in-place', false],
  ['next-revision', false],
] as const)('says that a change takes effect: %s', (patch, makesRevision) =>
  expect(fieldChange('source_config.custom_url', null, 'a', patch)).toEqual({
    field: 'source_config.custom_url',
    from: undefined,
    to: 'a',
    makesRevision,
    why: { code: 'differs', patch },
  }),
);

test('names what stands in the way, and what could not be compared', () => {
  const deploymentType = 'prod' as const;
  const repoUrl = 'https://github.com/acme/other';
  expect(
    compareFields(
      { ...github, repoUrl, deploymentType, integrationId: id },
      {
        ...built,
        source_config: { repo_url: 'https://github.com/acme/agent', integration_id: null },
      },
    ),
  ).toEqual({
    changes: [],
    obstacles: [
      {
        field: 'source_config.integration_id',
        code: 'fixed',
        from: undefined,
        to: id,
      },
      { field: 'source_config.repo_url', code: 'fixed', from: 'https://github.com/acme/agent', to: repoUrl },
    ],
    notes: [{ code: 'field-unreported', field: 'source_config.deployment_type' }],
  });
});

test('compares the settings of an image', () => {
  const requested = { ...docker, customUrl: 'https://b.test', listenerId: id, k8sNamespace: 'agents' };
  const { changes, obstacles, notes } = compareFields(requested, image);
  expect(changes.map(({ field, from, to }) => [field, from, to])).toEqual([
    ['source_config.custom_url', 'https://agent.test', 'https://b.test'],
  ]);
  expect(obstacles.map(({ field }) => field)).toEqual(['source_config.listener_id']);
  expect(notes).toEqual([{ code: 'field-unreported', field: 'source_config.listener_config.k8s_namespace' }]);
});

const commands = { installCommand: 'npm ci', buildCommand: 'make' };
const common = { name: 'agent', secretsStrategy: 'merge' } as const;
const whole: Desired[] = [
  {
    ...common,
    ...commands,
    source: 'github',
    rebuild: 'auto',
    integrationId: id,
    repoUrl: 'https://github.com/acme/agent',
    deploymentType: 'dev',
    buildOnPush: false,
    repoRef: 'main',
    graphConfigPath: 'a.json',
  },
  {
    ...common,
    source: 'external_docker',
    customUrl: 'https://a.test',
    listenerId: id,
    k8sNamespace: 'agents',
    imageUri: 'a:1',
  },
  {
    ...common,
    ...commands,
    source: 'internal_source',
    rebuild: 'auto',
    deploymentType: 'dev',
    graphConfigPath: 'a.json',
  },
  { ...common, source: 'internal_docker', imageUri: 'a:1' },
];

test.each(whole)('requests every field of $source, each by itself too', (desired) => {
  const fields = requestedFields(desired);
  const paths = fields.map(({ path }) => path);
  const special = /^(name|source|secrets|secret_references|source_config.resource_spec)$|tarball|sha$/;
  const rules = fieldRules.filter(({ path, appliesTo }) => appliesTo.includes(desired.source) && !special.test(path));
  expect(paths.toSorted()).toEqual(rules.map(({ path }) => path).toSorted());
  for (const { path, value } of fields) {
    const one = buildRequestFields(desired, (each) => each === path);
    expect(paths.filter((each) => heldAt(one, each) !== undefined)).toEqual([path]);
    expect(heldAt(one, path)).toBe(value);
    expect(
      heldAt(
        buildRequestFields(desired, () => true),
        path,
      ),
    ).toBe(value);
  }
  expect(buildRequestFields(desired, () => false)).toEqual({ source_config: {}, source_revision_config: {} });
});
