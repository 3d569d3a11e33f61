import { isDeepStrictEqual } from 'node:util';
import { deploymentPatchRequest, type DeploymentPatchRequest } from '../../../../contract/control/deployment.ts';
import { accepts } from '../../../../contract/control/field-rules.ts';
import { readRepoRef } from '../../../../contract/control/repo-ref.ts';
import type { Source } from '../../../../contract/control/source.ts';
import { fieldAt, isGiven, lengthProblems, rulesGiven, unknownFields } from '../../validation/field.ts';
import { accepted, againstRules, type ValidationResult } from '../../validation/refusal.ts';
import { repoRefProblem, tarballProblem, type NamedTarball } from './value-problems.ts';
import { readBody } from '../../validation/shape.ts';
import { requestProblems, withEmptyValues, type RequestedDeployment } from './requested-deployment.ts';
import { isObject } from '../../../../kit/json-object.ts';
import { isUuid } from '../../../../kit/uuid.ts';

/** The current deployment, as far as a change needs it. */
export interface CurrentDeployment extends RequestedDeployment {
  name: string;
  source: Source;
  /** The address that the service shows as `custom_url` where a request can't set it. */
  shownUrl: string;
}

/** The parsed body of a change, with `name` and `source`, which a change may only repeat. */
export interface ReadPatch {
  request: DeploymentPatchRequest;
  restated: { name?: unknown; source?: unknown };
}

/** Parses the body of a PATCH, in either spelling. */
export function readPatch(body: unknown): ValidationResult<ReadPatch> {
  const read = readBody(deploymentPatchRequest, body);
  if (!read.ok) return read;
  return accepted({ request: read.value, restated: { name: fieldAt(body, 'name'), source: fieldAt(body, 'source') } });
}

/**
 * Returns the deployment after a PATCH, or every rule that the PATCH breaks (docs/design/contract.md#deployment-settings
 * and #revision-settings). Null and absent fields stay as they are; fixed fields may be repeated, not changed.
 *
 * @param tarball the state of the requested `source_tarball_path`; unused where there is none.
 * @returns also the paths of the fields that need a new revision; where there are none, all changes happen in place.
 */
export function checkPatch(
  current: CurrentDeployment,
  { request, restated }: ReadPatch,
  tarball: NamedTarball = 'unknown',
): ValidationResult<{ requested: RequestedDeployment; revisionFor: string[] }> {
  const { source } = current;
  const tooLong = lengthProblems(request);
  if (tooLong.length > 0) return againstRules(tooLong);
  const { repo_ref } = request.source_revision_config ?? {};
  // A client may send back what it read, also the name of a branch that looks like a commit.
  const isRestated = repo_ref === current.source_revision_config.repo_ref;
  const ref =
    repo_ref == null ? undefined : isRestated ? ({ ok: true, ref: repo_ref } as const) : readRepoRef(repo_ref);
  const namesTarball = source === 'internal_source' && isGiven(request, 'source_revision_config.source_tarball_path');
  const requested = mergeRequest(current, request, ref?.ok ? ref.ref : undefined);
  const problems = [
    ...fixedProblems(current, { ...request, ...restated }),
    ...unknownFields(source, withoutShownUrl(current, request)),
    request.revision_source && request.revision_source !== source
      ? `revision_source: this service makes every revision from the deployment's own source, ${source}.`
      : undefined,
    ref && !ref.ok ? repoRefProblem(ref) : undefined,
    namesTarball ? tarballProblem(tarball) : undefined,
    namesTarball && !requested.source_revision_config.graph_config_path
      ? 'source_revision_config.graph_config_path is required beside source_tarball_path: the deployment was created without one.'
      : undefined,
    ...requestProblems(requested),
  ].filter((reported) => reported !== undefined);
  if (problems.length > 0) return againstRules(problems);
  const revisionFor = rulesGiven(request).filter(({ patch }) => patch === 'revision');
  return accepted({ requested, revisionFor: revisionFor.map(({ path }) => path) });
}

function fixedProblems(current: CurrentDeployment, request: unknown): string[] {
  return rulesGiven(request)
    .filter((rule) => rule.patch === 'fixed' && accepts(rule, current.source))
    .filter(({ path }) => !isSame(fieldAt(request, path), fieldAt(current, path)))
    .map(({ path }) => {
      const currentValue = fieldAt(current, path);
      return `${path} was set on create and cannot be changed: it is ${currentValue == null ? 'null' : JSON.stringify(currentValue)}.`;
    });
}

/** Whether values are equal; ignores the case of UUIDs. */
const isSame = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(one, other) ||
  (typeof one === 'string' && typeof other === 'string' && isUuid(one) && one.toLowerCase() === other.toLowerCase());

/** Drops `custom_url` where it is the shown one: a client may send back what it read. */
function withoutShownUrl(current: CurrentDeployment, request: DeploymentPatchRequest): DeploymentPatchRequest {
  if (request.source_config?.custom_url !== current.shownUrl) return request;
  return { ...request, source_config: { ...request.source_config, custom_url: null } };
}

function mergeRequest(
  current: CurrentDeployment,
  request: DeploymentPatchRequest,
  ref: string | undefined,
): RequestedDeployment {
  const { custom_url, resource_spec, listener_config, ...settings } = withoutNulls(request.source_config ?? {});
  const isOwnUrl = current.source === 'external_docker';
  return {
    source_config: {
      ...current.source_config,
      ...settings,
      ...(custom_url && isOwnUrl ? { custom_url } : {}),
      ...(resource_spec ? { resource_spec: withEmptyValues(resource_spec) } : {}),
      ...(listener_config
        ? { listener_config: { ...current.source_config.listener_config, ...withoutNulls(listener_config) } }
        : {}),
    },
    source_revision_config: {
      ...current.source_revision_config,
      ...withoutNulls(request.source_revision_config ?? {}),
      ...(ref === undefined ? {} : { repo_ref: ref }),
    },
    secrets: request.secrets ?? current.secrets,
    secret_references: request.secret_references ?? current.secret_references,
  };
}

function withoutNulls<T extends object>(fields: T): Partial<T> {
  const remaining: Partial<T> = { ...fields };
  for (const key of Object.keys(remaining))
    if (Reflect.get(remaining, key) == null) Reflect.deleteProperty(remaining, key);
  return remaining;
}

/** The depth of the reported fields: `source_config.resource_spec.cpu`, and none below it. */
const maxDepth = 3;

/**
 * The names of the fields that a change affects, in alphabetical order; for a new deployment, all its fields. Secrets
 * and their references appear by name (`secrets.MODEL_KEY`). Never contains a value.
 */
export function changedFields(before: RequestedDeployment | undefined, after: RequestedDeployment): string[] {
  return differingPaths('', before && byName(before), byName(after), maxDepth).sort();
}

const byName = ({ source_config, source_revision_config, secrets, secret_references }: RequestedDeployment) => ({
  source_config,
  source_revision_config,
  secrets: entriesByName(secrets),
  secret_references: entriesByName(secret_references ?? []),
});

const entriesByName = (list: readonly { name: string }[]): object =>
  Object.fromEntries(list.map((entry) => [entry.name, entry]));

function differingPaths(path: string, before: unknown, after: unknown, depth: number): string[] {
  const [one, other] = [before ?? undefined, after ?? undefined];
  if (isDeepStrictEqual(one, other)) return [];
  const goesDown = depth > 0 && [one, other].every((value) => value === undefined || isObject(value));
  if (!goesDown) return [path];
  const [left, right] = [isObject(one) ? one : {}, isObject(other) ? other : {}];
  // Report secrets by name only, without their fields.
  const remainingDepth = path === 'secrets' || path === 'secret_references' ? 0 : depth - 1;
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].flatMap((key) =>
    differingPaths(path === '' ? key : `${path}.${key}`, left[key], right[key], remainingDepth),
  );
}
