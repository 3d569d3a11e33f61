import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Desired, DesiredExternalDocker, DesiredGithub } from '../../src/config/desired.ts';
import type { Deployment, DeploymentPatchRequest } from '../../src/contract/control/deployment.ts';
import type { ResourceSpec } from '../../src/contract/control/resource-spec.ts';
import type { Secret } from '../../src/contract/control/secret.ts';
import { carriesSource, holdsSettings } from '../../src/decide/plan-carried.ts';
import { sameResources } from '../../src/decide/plan-resources.ts';
import { plan } from '../../src/decide/plan.ts';
import type { Plan } from '../../src/decide/plan-types.ts';
import { ServiceModel } from './service-model.ts';

const commit = 'a'.repeat(40);

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,7}$/);
const secrets = fc.uniqueArray(fc.record({ name: word.map((name) => name.toUpperCase()), value: word }), {
  selector: ({ name }) => name,
  maxLength: 4,
});
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const cores = (max: number) => fc.double({ min: 0.1, max, noNaN: true });
const count = fc.integer({ min: 0, max: 4096 });
const resources: fc.Arbitrary<ResourceSpec> = fc
  .record(
    {
      cpu: fc.option(cores(8)),
      cpu_limit: fc.option(cores(16)),
      queue_cpu: cores(8),
      queue_cpu_limit: fc.option(cores(16)),
      cache_cpu: cores(8),
      db_cpu: cores(8),
      orchestrator_cpu: cores(8),
      memory_mb: fc.option(count),
      memory_limit_mb: count,
      min_scale: count,
      max_scale: fc.option(count),
      queue_min_scale: count,
      cache_memory_mb: count,
      db_memory_mb: count,
      db_memory_limit_mb: fc.option(count),
      labels: fc.option(fc.dictionary(word, word, { maxKeys: 2 })),
      service_account_name: word,
      sidecars: fc.uniqueArray(
        fc.record(
          {
            name: word,
            image: word,
            command: fc.option(fc.array(word, { maxLength: 2 })),
            env: fc.array(fc.record({ name: word, value: fc.constantFrom('', 'x') }), { maxLength: 2 }),
          },
          { requiredKeys: ['name', 'image'] },
        ),
        { selector: ({ name }) => name, maxLength: 2 },
      ),
    },
    { requiredKeys: [] },
  )
  .map((spec) => Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined)));

const strategy = fc.constantFrom<Desired['secretsStrategy']>('merge', 'overwrite');

/** What is left out of one generation is what a person left out. */
function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const kept = { ...value };
  for (const key in kept) if (kept[key] === undefined) delete kept[key];
  // fast-check gives undefined where a field is absent; the deletion above makes that true of the object too.
  return kept as { [K in keyof T]: Exclude<T[K], undefined> };
}

const github: fc.Arbitrary<DesiredGithub> = fc
  .record({
    source: fc.constant('github' as const),
    name: fc.constant('agent'),
    repoUrl: fc.constantFrom('https://github.com/acme/agent', 'git@github.com:acme/Agent.git'),
    repoRef: word,
    graphConfigPath: fc.constantFrom('langgraph.json', './langgraph.json', 'a/graph.json'),
    deploymentType: fc.constant('dev' as const),
    buildOnPush: optional(fc.boolean()),
    installCommand: optional(word),
    buildCommand: optional(word),
    secrets: optional(secrets),
    secretsStrategy: strategy,
    rebuild: fc.constantFrom<DesiredGithub['rebuild']>('auto', 'never'),
  })
  .map(withoutUndefined);

const docker: fc.Arbitrary<DesiredExternalDocker> = fc
  .record({
    source: fc.constant('external_docker' as const),
    name: fc.constant('agent'),
    imageUri: word,
    customUrl: optional(word.map((host) => `https://${host}.test/`)),
    k8sNamespace: fc.constant('agents'),
    resourceSpec: optional(resources),
    secrets: optional(secrets),
    secretsStrategy: strategy,
    secretReferences: optional(
      fc.uniqueArray(fc.record({ name: word, secret_name: word, secret_key: word }), {
        selector: ({ name }) => name,
        maxLength: 2,
      }),
    ),
  })
  .map(withoutUndefined);

const quirks = fc.record({
  fillsDefaults: fc.boolean(),
  addsNulls: fc.boolean(),
  dropsUnused: fc.boolean(),
  reordersSecrets: fc.boolean(),
});

/** Plans against the model and carries the plan out on it. */
function deployed(service: ServiceModel, desired: Desired): Plan {
  const planned = plannedFor(service, desired);
  if (planned.kind === 'impossible') throw new Error(JSON.stringify(planned.obstacles));
  if (planned.kind === 'create') service.create(planned.request);
  if (planned.kind === 'patch') {
    const before = service.revisions.length;
    expectDifferences(planned.request, service.deployment);
    const after = service.patch(planned.request);
    expect(service.revisions.length - before).toBe(planned.makesRevision ? 1 : 0);
    expect(holdsSettings(planned.request, after)).toBe(true);
    const newest = service.revisions[0];
    if (planned.makesRevision && newest) expect(carriesSource(planned.request, newest)).toBe(true);
  }
  service.settle('DEPLOYED', desired.source === 'github' ? commit : undefined);
  return planned;
}

/** A field that does not differ could make a revision that nobody needs. */
function expectDifferences(request: DeploymentPatchRequest, held: Deployment | undefined): void {
  const { resource_spec, ...plain } = request.source_config ?? {};
  for (const [field, value] of Object.entries(plain)) {
    expect(value).not.toEqual(Object.entries(held?.source_config ?? {}).find(([name]) => name === field)?.[1]);
  }
  for (const [field, value] of Object.entries(request.source_revision_config ?? {})) {
    expect(value).not.toEqual(Object.entries(held?.source_revision_config ?? {}).find(([name]) => name === field)?.[1]);
  }
  if (request.secrets) expect(new Set(request.secrets.map(spelled))).not.toEqual(new Set(held?.secrets.map(spelled)));
  if (resource_spec) expect(sameResources(resource_spec, held?.source_config.resource_spec)).toBe(false);
}

const spelled = ({ name, value }: Secret) => `${name}=${value}`;

function plannedFor(service: ServiceModel, desired: Desired): Plan {
  const { deployment } = service;
  return plan(desired, {
    deployment,
    live: service.revision(deployment?.active_revision_id),
    latest: service.revision(deployment?.latest_revision_id),
    commit: { kind: 'known', sha: commit, from: 'the test' },
  });
}

describe.each([
  ['github', github],
  ['external_docker', docker],
])('%s', (_, desired: fc.Arbitrary<Desired>) => {
  test('once it is deployed there is nothing left to do', () => {
    fc.assert(
      fc.property(quirks, desired, (liberties, asked) => {
        const service = new ServiceModel(liberties);
        expect(deployed(service, asked).kind).toBe('create');
        expect(plannedFor(service, asked)).toMatchObject({ kind: 'none' });
      }),
    );
  });

  test('so too after any number of changes, each of which sends only what differs', () => {
    fc.assert(
      fc.property(quirks, fc.array(desired, { minLength: 2, maxLength: 4 }), (liberties, wishes) => {
        const service = new ServiceModel(liberties);
        for (const asked of wishes) {
          deployed(service, asked);
          expect(plannedFor(service, asked)).toMatchObject({ kind: 'none' });
        }
      }),
    );
  });
});
