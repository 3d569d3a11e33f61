import type { Deployment } from '../../contract/control/deployment.ts';
import { fieldRules, ruleOf, type FieldRule } from '../../contract/control/field-rules.ts';
import type { PatchEffect } from '../../contract/control/deployment-field.ts';
import { readRepoRef } from '../../contract/control/repo-ref.ts';
import type { SourceConfigRequest, SourceRevisionConfigRequest } from '../../contract/control/source.ts';
import type { Desired } from '../file/desired.ts';
import { toCamel } from '../file/spelling.ts';
import { withoutTrailingSlashes } from '../../kit/plain-text.ts';
import type { FieldChange, Obstacle, PlanNote } from './plan-types.ts';
import { sameRepository, shownRepository } from '../file/repository-url.ts';

/** The field that an upload is named by. No person writes it: its value is what the service hands out. */
export const tarballField = 'source_revision_config.source_tarball_path';

/** A requested field with one plain value. `resource_spec` and secrets are compared by their own modules. */
export interface RequestedField {
  /** Dotted path in the document's spelling. */
  path: string;
  value: string | boolean;
}

/** Every requested field of the service's with its rules, in the order of the document. */
export function requestedRules(desired: Desired): (FieldRule & { value: unknown })[] {
  const requested = new Map<string, unknown>(Object.entries(desired));
  return fieldRules.flatMap((rule) => {
    const value = requested.get(toCamel(rule.name));
    return value === undefined ? [] : [{ ...rule, value }];
  });
}

/** The plain ones of `source_config` and `source_revision_config`. */
export const requestedFields = (desired: Desired): RequestedField[] =>
  requestedRules(desired).flatMap(({ path, value }) => {
    const isPlain = typeof value === 'string' || typeof value === 'boolean';
    return isPlain && path.includes('.') ? [{ path, value }] : [];
  });

/** The parts of a request that hold plain fields. */
export interface RequestFields {
  source_config: SourceConfigRequest;
  source_revision_config: SourceRevisionConfigRequest;
}

/** The requested plain fields in the form of a request; `only` selects some of them. */
export function buildRequestFields(desired: Desired, only: (path: string) => boolean): RequestFields {
  const selected = requestedFields(desired).filter(({ path }) => only(path));
  const within = (part: keyof RequestFields) =>
    Object.fromEntries(
      selected.flatMap(({ path, value }) => {
        const [whole, field = '', inner] = path.split('.');
        return whole === part ? [[field, inner === undefined ? value : { [inner]: value }]] : [];
      }),
    );
  return { source_config: within('source_config'), source_revision_config: within('source_revision_config') };
}

/** The service's value at a path; `undefined` if it is not reported, `null` if it is reported as empty. */
export function heldAt(
  reported: Partial<Pick<Deployment, 'source_config' | 'source_revision_config'>>,
  path: string,
): unknown {
  let held: unknown = reported;
  for (const step of path.split('.')) {
    if (held === undefined || held === null) return held;
    if (typeof held !== 'object' || !Object.hasOwn(held, step)) return undefined;
    held = Object.entries(held).find(([key]) => key === step)?.[1];
  }
  return held;
}

/** Whether the service already has the requested value, in any equivalent spelling. */
export function sameField(path: string, requested: string | boolean, held: unknown): boolean {
  if (typeof requested !== 'string' || typeof held !== 'string') return requested === held;
  switch (path) {
    case 'source_config.repo_url':
      return sameRepository(requested, held);
    case 'source_config.integration_id':
    case 'source_config.listener_id':
      return requested.toLowerCase() === held.toLowerCase();
    case 'source_config.custom_url':
      return withoutTrailingSlashes(requested) === withoutTrailingSlashes(held);
    case 'source_revision_config.graph_config_path':
      return requested.replace(/^(\.\/)+/, '') === held.replace(/^(\.\/)+/, '');
    case 'source_revision_config.repo_ref':
      return spelledRef(requested) === spelledRef(held);
    default:
      return requested === held;
  }
}

/** A ref in the document's spelling; one that cannot be read stays as it is. */
export function spelledRef(ref: string): string {
  const read = readRepoRef(ref);
  return read.ok ? read.ref : ref;
}

/** The plain fields that differ: what to change, what stands in the way, and what could not be compared. */
export function compareFields(
  desired: Desired,
  deployment: Deployment,
): { changes: FieldChange[]; obstacles: Obstacle[]; notes: PlanNote[] } {
  const changes: FieldChange[] = [];
  const obstacles: Obstacle[] = [];
  const notes: PlanNote[] = [];
  for (const { path, value } of requestedFields(desired)) {
    const held = heldAt(deployment, path);
    if (sameField(path, value, held)) continue;
    const { patch } = ruleOf(path);
    if (patch !== 'fixed') changes.push(fieldChange(path, held, value, patch));
    else if (held === undefined) notes.push({ code: 'field-unreported', field: path });
    else obstacles.push({ ...shownChange(path, held, value), code: 'fixed' });
  }
  return { changes, obstacles, notes };
}

/** A change of one plain field. */
export const fieldChange = (
  path: string,
  held: unknown,
  requested: string | boolean,
  patch: PatchEffect,
): FieldChange => ({
  ...shownChange(path, held, requested),
  makesRevision: patch === 'revision',
  why: { code: 'differs', patch },
});

const shownChange = (path: string, held: unknown, requested: string | boolean) => ({
  field: path,
  from: displayValue(path, held),
  to: displayValue(path, requested),
});

/** A field's value as it may be shown, or undefined where there is none. */
export function displayValue(path: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return path.endsWith('_url') ? shownRepository(text) : text;
}
