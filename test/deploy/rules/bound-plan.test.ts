import { createHash, createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Deployment } from '../../../src/contract/control/deployment.ts';
import type { DesiredExternalDocker, DesiredGithub } from '../../../src/deploy/file/desired.ts';
import { readSavedPlan, type SavedPlan } from '../../../src/deploy/file/saved-plan.ts';
import { boundPlanObstacles, planFacts, type PlanInput } from '../../../src/deploy/rules/bound-plan.ts';
import { plan } from '../../../src/deploy/rules/plan.ts';
import type { ObservedState } from '../../../src/deploy/rules/plan-types.ts';
import { reportedPlan } from '../../../src/deploy/words/plan.ts';

const commit = 'a'.repeat(40);
const madeAt = '2026-01-02T03:04:05.000Z';
const now = Date.parse(madeAt) + 60_000;

const desired: DesiredGithub = {
  source: 'github',
  name: 'support',
  repoUrl: 'https://github.com/acme/agents',
  repoRef: 'main',
  graphConfigPath: 'langgraph.json',
  secrets: [{ name: 'PIN', value: '1234' }],
  secretsStrategy: 'merge',
  rebuild: 'auto',
};

const deployment: Deployment = {
  id: 'd1',
  name: 'support',
  source: 'github',
  source_config: { repo_url: 'https://github.com/acme/agents' },
  source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
  secrets: [{ name: 'PIN', value: '0000' }],
  tenant_id: 't1',
  created_at: '',
  updated_at: '',
  status: 'READY',
  latest_revision_id: 'r1',
  active_revision_id: 'r1',
};

const seen: ObservedState = { deployment, commit: { kind: 'known', sha: commit } };

interface Changed {
  desired?: Partial<DesiredGithub>;
  deployment?: Partial<Deployment>;
  seen?: Partial<ObservedState>;
  terms?: Record<string, unknown>;
  input?: Partial<PlanInput>;
  key?: string;
}

function factsOf(changed: Changed = {}) {
  const wanted = { ...desired, ...changed.desired };
  const state = { ...seen, deployment: { ...deployment, ...changed.deployment }, ...changed.seen };
  const planned = plan(wanted, state);
  if (planned.kind === 'impossible') throw new Error(JSON.stringify(planned.obstacles));
  return planFacts({
    desired: wanted,
    terms: { smokeTests: [], onFailure: 'keep', ...changed.terms },
    planned,
    seen: state,
    service: 'https://host',
    tenantId: undefined,
    digest: (text) => createHash('sha256').update(text).digest('hex'),
    keyed: (text) =>
      createHmac('sha256', changed.key ?? 'key')
        .update(text)
        .digest('hex'),
    ...changed.input,
  });
}

const saved: SavedPlan = {
  type: 'urn:landfall:plan:v1',
  id: '4b0dfa7e-0000-4000-8000-000000000001',
  made_at: madeAt,
  landfall_version: '0.1.0',
  ...factsOf(),
};

/** What keeps a deploy from applying the plan, as `field: code`. */
const obstacles = (changed: Changed = {}, plans: Partial<SavedPlan> = {}, at = now): string[] =>
  boundPlanObstacles({ ...saved, ...plans }, factsOf(changed), at).map(({ field, code }) => `${field}: ${code}`);

test('a plan is applied where nothing changed', () => {
  expect(obstacles()).toEqual([]);
});

const applied: Partial<Deployment> = { secrets: [{ name: 'PIN', value: '1234' }], latest_revision_id: 'r2' };
const isLive = { id: 'r2', status: 'DEPLOYED', source_revision_config: { repo_commit_sha: commit } };
const live: Changed = {
  deployment: { ...applied, active_revision_id: 'r2' },
  seen: { live: isLive, latest: isLive },
};
const withLive = (changed: Changed): Changed => ({
  ...changed,
  deployment: { ...live.deployment, ...changed.deployment },
  seen: { ...live.seen, deployment: { ...deployment, ...live.deployment }, ...changed.seen },
});

describe('where nothing is left to send', () => {
  test('a plan that was applied is not refused', () => {
    expect(factsOf(withLive({})).plan).toBe('none');
    expect(obstacles(withLive({}))).toEqual([]);
    expect(obstacles(withLive({}), {}, now + 365 * 86_400_000)).toEqual([]);
  });

  test('a plan of another commit or of another file is refused', () => {
    expect(obstacles(withLive({}), { commit: 'b'.repeat(40) })).toEqual(['commit: plan-commit']);
    expect(obstacles(withLive({ terms: { onFailure: 'rollback' } }))).toEqual(['on-failure: plan-changed']);
  });
});

test.each<[string, Changed, Partial<SavedPlan>, string[]]>([
  ['another service', { input: { service: 'https://other' } }, {}, ['plan-file: plan-of-other']],
  ['another tenant', { deployment: { tenant_id: 't2' } }, {}, ['plan-file: plan-of-other']],
  ['another deployment', { deployment: { id: 'd2' } }, {}, ['plan-file: plan-of-other']],
  ['another name', {}, { deployment_name: 'production' }, ['plan-file: plan-of-other']],
  ['a moved commit', { seen: { commit: { kind: 'known', sha: 'b'.repeat(40) } } }, {}, ['commit: plan-commit']],
  [
    'a commit that is not known now',
    { seen: { commit: { kind: 'unknown', because: { code: 'no-workflow' } } } },
    {},
    ['commit: plan-commit'],
  ],
  ['a changed field of the file', { desired: { repoRef: 'next' } }, {}, ['repo-ref: plan-changed']],
  ['a field that the file left out', { desired: { installCommand: 'npm ci' } }, {}, ['install-command: plan-changed']],
  ['other smoke tests', { terms: { smokeTests: [{ name: 'a' }] } }, {}, ['smoke-tests: plan-changed']],
  ['another secret', { desired: { secrets: [{ name: 'PIN', value: '9999' }] } }, {}, ['PIN: plan-changed']],
  [
    'one more secret',
    { desired: { secrets: [...(desired.secrets ?? []), { name: 'KEY', value: 'x' }] } },
    {},
    ['secrets: plan-changed', 'KEY: plan-changed'],
  ],
  [
    'a secret that was changed there',
    { deployment: { secrets: [{ name: 'PIN', value: '1' }] } },
    {},
    ['PIN: plan-changed'],
  ],
  [
    'a secret that was removed there',
    { deployment: { secrets: [] } },
    {},
    ['secrets: plan-changed', 'PIN: plan-changed'],
  ],
  [
    'a field that was changed there',
    { deployment: { source_config: { repo_url: 'https://github.com/acme/agents', build_on_push: true } } },
    {},
    ['source_config.build_on_push: plan-changed'],
  ],
  ['another live revision', { deployment: { active_revision_id: 'r0' } }, {}, ['plan-file: plan-revision']],
  ['a newer revision', { deployment: { latest_revision_id: 'r2' } }, {}, ['plan-file: plan-revision']],
  ['a deployment that was created since', {}, { deployment_id: null }, ['plan-file: plan-created']],
  ['a plan of other changes', {}, { change: 'other' }, ['plan-file: plan-differs']],
])('refuses %s', (_, changed, plans, expected) => {
  expect(obstacles(changed, plans)).toEqual(expected);
});

test.each([
  ['73 hours old', Date.parse(madeAt) + 73 * 3_600_000],
  ['of the future', Date.parse(madeAt) - 600_000],
])('refuses a plan that is %s', (_, at) => {
  expect(obstacles({}, {}, at)).toEqual(['plan-file: plan-too-old']);
});

test('with another key, secrets are compared by their names alone', () => {
  expect(obstacles({ key: 'other', desired: { secrets: [{ name: 'PIN', value: '9999' }] } })).toEqual([]);
  expect(obstacles({ key: 'other', deployment: { secrets: [{ name: 'OTHER', value: '1' }] } })).toEqual([
    'secrets: plan-changed',
  ]);
});

describe('a plan of a key that sees no values of secrets', () => {
  const hidden = factsOf({ key: 'reader', deployment: { secrets: [{ name: 'PIN', value: null }] } });

  test('is applied by a key that sees them', () => {
    expect(hidden.fields).toContain('secrets.PIN');
    const same = { deployment: { secrets: [{ name: 'PIN', value: '1234' }] } };
    expect(factsOf(same).fields).not.toContain('secrets.PIN');
    expect(obstacles(same, hidden)).toEqual([]);
  });

  test('is refused where a setting differs', () => {
    expect(obstacles({}, { ...hidden, settings: 'other' })).toEqual(['plan-file: plan-differs']);
  });
});

describe('a plan of a creation', () => {
  const none = { deployment: undefined, commit: { kind: 'known', sha: commit } } as const;
  const creation = (key: string, tenantId?: string) => factsOf({ key, seen: none, input: { tenantId } });

  test('is refused with another key where it names no tenant: the name may be free in another one', () => {
    expect(obstacles({ key: 'other', seen: none }, creation('key'))).toEqual(['tenant-id: plan-tenant-unknown']);
  });

  test('is applied with the same key, or where it names its tenant', () => {
    expect(obstacles({ seen: none }, creation('key'))).toEqual([]);
    const named = { key: 'other', seen: none, input: { tenantId: 't1' } };
    expect(obstacles(named, creation('key', 't1'))).toEqual([]);
    expect(obstacles(named, creation('key', 't2'))).toEqual(['plan-file: plan-of-other']);
  });
});

test('a pushed image and a changed folder are changes of the file', () => {
  const tarball = (digest: string) => ({ digest, size: 1, files: 1, leftOut: [] });
  expect(obstacles({ seen: { tarball: tarball('sha256:2') } })).toEqual(['source-dir: plan-changed']);
  expect(obstacles({ seen: { image: { kind: 'pinned', uri: 'a@sha256:2' } } })).toEqual(['image-uri: plan-changed']);
});

test('a plan holds no plain digest of a secret, nor of the environment of a container', () => {
  const sidecars = (value: string) => [{ name: 'proxy', image: 'proxy:1', env: [{ name: 'PASSWORD', value }] }];
  const docker = (value: string): DesiredExternalDocker => ({
    source: 'external_docker',
    name: 'support',
    imageUri: `registry/agent@sha256:${'0'.repeat(64)}`,
    listenerId: 'l1',
    resourceSpec: { sidecars: sidecars(value) },
    secrets: [{ name: 'PIN', value }],
    secretsStrategy: 'merge',
    rebuild: 'auto',
  });
  const [one, other] = ['1234', '9999'].map((value) => {
    const wanted = docker(value);
    const state: ObservedState = { commit: { kind: 'unknown', because: { code: 'image' } } };
    const planned = plan(wanted, state);
    return planned.kind === 'impossible' ? undefined : factsOf({ input: { desired: wanted, planned, seen: state } });
  });
  const { secrets: _, ...plain } = one ?? saved;
  const { secrets: __, ...otherPlain } = other ?? saved;
  expect(plain).toEqual(otherPlain);
  expect(one?.secrets).not.toEqual(other?.secrets);
});

test('every refusal says what to do', () => {
  const found = [
    ...boundPlanObstacles(saved, factsOf({ input: { service: 'https://other' } }), now),
    ...boundPlanObstacles(
      saved,
      factsOf({ desired: { repoRef: 'next' }, deployment: { latest_revision_id: 'r2' } }),
      0,
    ),
  ];
  const reported = reportedPlan({ kind: 'impossible', obstacles: found });
  expect(reported).toMatchObject({ kind: 'impossible' });
  expect(JSON.stringify(reported)).toContain('Make the plan again');
});

describe('a plan file', () => {
  const text = JSON.stringify(saved);

  test('is read as it was written', () => {
    expect(readSavedPlan(text)).toEqual(saved);
  });

  test.each([
    ['nothing', ''],
    ['a list', '[]'],
    ['another type', text.replace('plan:v1', 'plan:v2')],
    ['an unknown key', text.replace('"id"', '"more":1,"id"')],
    ['a missing key', text.replace(`"service":"https://host",`, '')],
    ['a key of a prototype', text.replace('"id"', '"__proto__":{"id":1},"id"')],
    ['a receipt', '{"_type":"https://in-toto.io/Statement/v1"}'],
  ])('of %s is no plan', (_, wrong) => {
    expect(readSavedPlan(wrong)).toBe(undefined);
  });
});
