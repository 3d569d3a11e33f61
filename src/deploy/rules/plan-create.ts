import type { DeploymentCreateRequest } from '../../contract/control/deployment.ts';
import { fieldRules, ruleOf } from '../../contract/control/field-rules.ts';
import type { Desired } from '../file/desired.ts';
import { otherCommitObstacles } from './commit.ts';
import { requestedFields, fieldChange, buildRequestFields, tarballField } from './plan-fields.ts';
import { requestedResources } from './plan-resources.ts';
import { compareReferences, compareSecrets } from './plan-secrets.ts';
import type { FieldChange, IdLookup, Obstacle, Plan, PlanNote, ObservedState } from './plan-types.ts';
import { pushOnTag } from './plan-identity.ts';
import { notesOnTarball, uploadChange } from './plan-tarball.ts';

/** The plan for a deployment that does not exist: created whole, or what is missing for that. */
export function planCreation(requested: Desired, { commit, integration, listener, tarball }: ObservedState): Plan {
  const desired = withFoundIds(requested, integration, listener);
  const resources = requestedResources(desired.source === 'external_docker' ? (desired.resourceSpec ?? {}) : {});
  const obstacles = [
    ...missing(desired),
    ...choices('source_config.integration_id', requested.source === 'github' ? integration : undefined),
    ...choices('source_config.listener_id', requested.source === 'external_docker' ? listener : undefined),
    ...pushOnTag(desired, undefined),
    ...otherCommitObstacles(commit),
    ...resources.obstacles,
  ];
  if (obstacles.length > 0) return { kind: 'impossible', obstacles };
  const parts = buildRequestFields(desired, () => true);
  const references = desired.source === 'external_docker' ? desired.secretReferences : undefined;
  const request: DeploymentCreateRequest = {
    name: desired.name ?? '',
    source: desired.source,
    source_config:
      Object.keys(resources.spec).length > 0
        ? { ...parts.source_config, resource_spec: resources.spec }
        : parts.source_config,
    source_revision_config: parts.source_revision_config,
    secrets: (desired.secrets ?? []).map(({ name, value }) => ({ name, value })),
    ...(references ? { secret_references: references.map((reference) => ({ ...reference })) } : {}),
  };
  return {
    kind: 'create',
    request,
    changes: [
      ...changesOf(desired, request),
      ...(tarball ? [uploadChange(tarball, undefined, { code: 'uploaded-later' })] : []),
    ],
    notes: [
      ...notesOf(requested, integration, listener),
      ...(requested.source === 'internal_source' ? notesOnTarball(requested, tarball) : []),
    ],
    ...(tarball ? { upload: { digest: tarball.digest } } : {}),
  };
}

function withFoundIds(desired: Desired, integration: IdLookup | undefined, listener: IdLookup | undefined): Desired {
  if (desired.source === 'github') {
    const id = desired.integrationId ?? (integration?.kind === 'one' ? integration.id : undefined);
    return id === undefined ? desired : { ...desired, integrationId: id };
  }
  if (desired.source !== 'external_docker') return desired;
  const id = desired.listenerId ?? (listener?.kind === 'one' ? listener.id : undefined);
  return id === undefined ? desired : { ...desired, listenerId: id };
}

/** What nothing could be run without, although the service creates a deployment that has none. */
const neededToRun: Partial<Record<Desired['source'], string>> = {
  internal_source: tarballField,
  internal_docker: 'source_revision_config.image_uri',
};

/** The fields that this source cannot be created without. Secrets may be none. */
function missing(desired: Desired): Obstacle[] {
  const given = new Set(['source', 'secrets', ...requestedFields(desired).map(({ path }) => path)]);
  if (desired.name) given.add('name');
  if (desired.source === 'internal_source' && desired.sourceDir !== undefined) given.add(tarballField);
  return fieldRules
    .filter(({ path, requiredFor }) => requiredFor.includes(desired.source) || neededToRun[desired.source] === path)
    .filter(({ path }) => !given.has(path))
    .map(({ path }) => ({ field: path, code: 'missing', source: desired.source }));
}

const choices = (field: string, found: IdLookup | undefined): Obstacle[] =>
  found?.kind === 'choices' ? [{ field, code: 'choices', choices: found.choices }] : [];

function changesOf(desired: Desired, request: DeploymentCreateRequest): FieldChange[] {
  const resources = Object.entries(request.source_config.resource_spec ?? {}).map(([field, value]) => ({
    field: `source_config.resource_spec.${field}`,
    from: undefined,
    to: typeof value === 'object' ? 'set' : String(value),
    makesRevision: true,
  }));
  const changes: Omit<FieldChange, 'why'>[] = [
    { field: 'name', from: undefined, to: request.name, makesRevision: false },
    { field: 'source', from: undefined, to: request.source, makesRevision: false },
    ...requestedFields(desired).map(({ path, value }) => fieldChange(path, undefined, value, ruleOf(path).patch)),
    ...resources,
    ...compareSecrets(request.secrets, 'overwrite', []).changes,
    ...compareReferences(request.secret_references ?? [], []),
  ];
  return changes.map((change) => ({ ...change, why: { code: 'created' } }));
}

function notesOf(desired: Desired, integration: IdLookup | undefined, listener: IdLookup | undefined): PlanNote[] {
  const found =
    desired.source === 'github' && desired.integrationId === undefined
      ? integration
      : desired.source === 'external_docker' && desired.listenerId === undefined
        ? listener
        : undefined;
  return found && found.kind !== 'choices' ? [found.note] : [];
}
