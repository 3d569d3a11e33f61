import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type {
  Desired,
  DesiredExternalDocker,
  DesiredGithub,
  DesiredInternalDocker,
  DesiredInternalSource,
} from '../../../src/deploy/file/desired.ts';
import type { Deployment, DeploymentPatchRequest } from '../../../src/contract/control/deployment.ts';
import type { ResourceSpec } from '../../../src/contract/control/resource-spec.ts';
import type { SecretReply } from '../../../src/contract/control/secret.ts';
import { carriesSource, holdsSettings } from '../../../src/deploy/rules/find-made.ts';
import { sameResources } from '../../../src/deploy/rules/plan-resources.ts';
import { plan } from '../../../src/deploy/rules/plan.ts';
import type { Plan } from '../../../src/deploy/rules/plan-types.ts';
import { ServiceModel } from './service-model.ts';

const commit = 'a'.repeat(40);

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,7}$/);
const secrets = fc.uniqueArray(fc.record({ name: word.map((name) => name.toUpperCase()), value: word }), {
  selector: ({ name }) => name,
  maxLength: 4,
});
// No amount exceeds a limit that another change may set: a contradiction is no plan.
const cores = (max: number) => fc.double({ min: 0.1, max, noNaN: true });
const limit = fc.double({ min: 8, max: 16, noNaN: true });
const count = fc.integer({ min: 0, max: 2048 });
const bound = fc.integer({ min: 2048, max: 4096 });
const resources: fc.Arbitrary<ResourceSpec> = fc.record(
  {
    cpu: fc.option(cores(8)),
    cpu_limit: fc.option(limit),
    queue_cpu: cores(8),
    queue_cpu_limit: fc.option(limit),
    cache_cpu: cores(8),
    db_cpu: cores(8),
    orchestrator_cpu: cores(8),
    memory_mb: fc.option(count),
    memory_limit_mb: bound,
    min_scale: count,
    max_scale: fc.option(bound),
    queue_min_scale: count,
    cache_memory_mb: count,
    db_memory_mb: count,
    db_memory_limit_mb: fc.option(bound),
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
);

const strategy = fc.constantFrom<Desired['secretsStrategy']>('merge', 'overwrite');

const github: fc.Arbitrary<DesiredGithub> = fc.record(
  {
    source: fc.constant('github' as const),
    name: fc.constant('agent'),
    repoUrl: fc.constantFrom('https://github.com/acme/agent', 'git@github.com:acme/Agent.git'),
    repoRef: word,
    graphConfigPath: fc.constantFrom('langgraph.json', './langgraph.json', 'a/graph.json'),
    buildOnPush: fc.boolean(),
    installCommand: word,
    buildCommand: word,
    secrets: secrets,
    secretsStrategy: strategy,
    rebuild: fc.constantFrom<DesiredGithub['rebuild']>('auto', 'never'),
  },
  { requiredKeys: ['source', 'name', 'repoUrl', 'repoRef', 'graphConfigPath', 'secretsStrategy', 'rebuild'] },
);

const docker: fc.Arbitrary<DesiredExternalDocker> = fc.record(
  {
    source: fc.constant('external_docker' as const),
    name: fc.constant('agent'),
    imageUri: word,
    customUrl: word.map((host) => `https://${host}.test/`),
    resourceSpec: resources,
    secrets: secrets,
    secretsStrategy: strategy,
    secretReferences: fc.uniqueArray(fc.record({ name: word, secret_name: word, secret_key: word }), {
      selector: ({ name }) => name,
      maxLength: 2,
    }),
  },
  { requiredKeys: ['source', 'name', 'imageUri', 'secretsStrategy'] },
);

const folder: fc.Arbitrary<DesiredInternalSource> = fc.record(
  {
    source: fc.constant('internal_source' as const),
    name: fc.constant('agent'),
    // Here, a folder with another name has other content.
    sourceDir: fc.constantFrom('a', 'b', 'c'),
    graphConfigPath: fc.constantFrom('langgraph.json', './langgraph.json', 'a/graph.json'),
    installCommand: word,
    buildCommand: word,
    secrets: secrets,
    secretsStrategy: strategy,
    rebuild: fc.constantFrom<DesiredInternalSource['rebuild']>('auto', 'never'),
  },
  { requiredKeys: ['source', 'name', 'sourceDir', 'graphConfigPath', 'secretsStrategy', 'rebuild'] },
);

const pushedImage: fc.Arbitrary<DesiredInternalDocker> = fc.record(
  {
    source: fc.constant('internal_docker' as const),
    name: fc.constant('agent'),
    imageUri: word,
    secrets: secrets,
    secretsStrategy: strategy,
  },
  { requiredKeys: ['source', 'name', 'imageUri', 'secretsStrategy'] },
);

const quirks = fc.record({
  fillsDefaults: fc.boolean(),
  addsNulls: fc.boolean(),
  dropsUnused: fc.boolean(),
  reordersSecrets: fc.boolean(),
  hidesDigests: fc.constant(false),
});

/** Plans and applies the plan to the model. `wrong` lists the violations. */
function deployed(service: ServiceModel, desired: Desired): { planned: Plan; wrong: string[] } {
  const planned = plannedFor(service, desired);
  const { deployment } = service;
  const before = service.revisions.length;
  const wrong: string[] = [];
  if (planned.kind === 'impossible') wrong.push(...planned.obstacles.map(({ field, code }) => `${field}: ${code}`));
  if (planned.kind === 'create') {
    service.create(planned.request);
    // The first revision waits; the one of the upload is built.
    if (planned.upload) service.patch(uploaded({}, planned.upload.digest, service));
  }
  if (planned.kind === 'patch') {
    const { makesRevision, upload } = planned;
    const request = upload ? uploaded(planned.request, upload.digest, service) : planned.request;
    wrong.push(...needless(request, deployment));
    const after = service.patch(request);
    const made = service.revisions.slice(0, service.revisions.length - before);
    if (made.length !== (makesRevision ? 1 : 0)) wrong.push(`${made.length} revisions were made`);
    if (!holdsSettings(request, after)) wrong.push('the deployment does not hold what was sent');
    if (!made.every((revision) => carriesSource(request, revision, upload?.digest)))
      wrong.push('the revision lacks what was sent');
  }
  service.settle('DEPLOYED', desired.source === 'github' ? commit : undefined);
  return { planned, wrong };
}

/** A request that names its upload. */
function uploaded(request: DeploymentPatchRequest, digest: string, service: ServiceModel): DeploymentPatchRequest {
  const path = service.handOut();
  service.store(path, digest);
  return { ...request, source_revision_config: { ...request.source_revision_config, source_tarball_path: path } };
}

/** The fields that were sent without a difference: they could cause an unnecessary revision. */
function needless(
  { source_config, source_revision_config, secrets }: DeploymentPatchRequest,
  held?: Deployment,
): string[] {
  const { resource_spec, ...plain } = source_config ?? {};
  const same = (sent: object, there: object = {}) =>
    Object.entries(sent).flatMap(([field, value]) =>
      Object.entries(there).some(([name, each]) => name === field && each === value)
        ? [`${field} does not differ`]
        : [],
    );
  const spec = held?.source_config.resource_spec;
  const set = (list: readonly SecretReply[] | null = []) => (list ?? []).map(spelled).toSorted().join();
  return [
    ...same(plain, held?.source_config),
    ...same(source_revision_config ?? {}, held?.source_revision_config),
    ...(secrets && set(secrets) === set(held?.secrets) ? ['secrets do not differ'] : []),
    ...(resource_spec && sameResources(resource_spec, spec) ? ['resource_spec does not differ'] : []),
  ];
}

const spelled = ({ name, value }: SecretReply) => `${name}=${value}`;

function plannedFor(service: ServiceModel, desired: Desired): Plan {
  const { deployment } = service;
  return plan(desired, {
    deployment,
    live: service.revision(deployment?.active_revision_id),
    latest: service.revision(deployment?.latest_revision_id),
    commit: { kind: 'known', sha: commit },
    ...(desired.source === 'internal_source' ? { tarball: tarballOf(desired) } : {}),
  });
}

const tarballOf = ({ sourceDir = '' }: DesiredInternalSource) => ({
  digest: `sha256:${sourceDir}`,
  size: 9,
  files: 1,
  leftOut: [],
});

describe.each([
  ['github', github],
  ['external_docker', docker],
  ['internal_source', folder],
  ['internal_docker', pushedImage],
])('%s', (_, desired: fc.Arbitrary<Desired>) => {
  test('a deployed state needs no further plan', () => {
    fc.assert(
      fc.property(quirks, desired, (liberties, requested) => {
        const service = new ServiceModel(liberties);
        expect(deployed(service, requested)).toMatchObject({ planned: { kind: 'create' }, wrong: [] });
        expect(plannedFor(service, requested)).toMatchObject({ kind: 'none' });
      }),
    );
  });

  test('after any number of changes, each sends only what differs', () => {
    fc.assert(
      fc.property(quirks, fc.array(desired, { minLength: 2, maxLength: 4 }), (liberties, requests) => {
        const service = new ServiceModel(liberties);
        for (const requested of requests) {
          expect(deployed(service, requested).wrong).toEqual([]);
          expect(plannedFor(service, requested)).toMatchObject({ kind: 'none' });
        }
      }),
    );
  });
});
