import type { Deployment } from '../../contract/control/deployment.ts';
import { fieldRules } from '../../contract/control/field-rules.ts';
import { sameCommit } from '../../contract/control/repo-ref.ts';
import { shownValue } from '../../contract/control/secret.ts';
import { canonicalJson, isObject } from '../../kit/json-object.ts';
import type { Desired } from '../file/desired.ts';
import type { SavedPlan } from '../file/saved-plan.ts';
import { toKebab } from '../file/spelling.ts';
import { heldAt } from './plan-fields.ts';
import type { FieldChange, Obstacle, ObservedState, Plan } from './plan-types.ts';

/** How long a plan may be applied: less than a service keeps the idempotency key that applies it once. */
const maxPlanHours = 72;

/** How far the clocks of two machines may differ (ms). */
const skewMs = 5 * 60_000;

/** What a plan is made of. */
export interface PlanInput {
  desired: Desired;
  /** How the deploy proves itself: part of the file, and of what was approved. */
  terms: Readonly<Record<string, unknown>>;
  planned: Exclude<Plan, { kind: 'impossible' }>;
  seen: ObservedState;
  service: string;
  tenantId: string | undefined;
  /** A digest of a text that is no secret. */
  digest: (text: string) => string;
  /** A digest that says nothing to those who do not have the key. */
  keyed: (text: string) => string;
}

/** What is compared of a plan. */
export type PlanFacts = Omit<SavedPlan, 'type' | 'id' | 'made_at' | 'landfall_version'>;

/** What a plan binds. Of a secret only a keyed digest is there: a plain one of a short value could be guessed. */
export function planFacts(input: PlanInput): PlanFacts {
  const { desired, terms, planned, seen, service, tenantId, digest, keyed } = input;
  const { deployment, commit, tarball, image } = seen;
  const plain = (value: unknown): string => digest(canonicalJson([withoutValues(value)]));
  const { secrets, ...fields } = desired;
  const own = {
    ...fields,
    ...terms,
    secrets: secrets?.map(({ name }) => name).toSorted(),
    sourceDir: tarball?.digest,
    ...(image?.kind === 'pinned' ? { imageUri: image.uri } : {}),
  };
  const held = heldFields(deployment);
  const changes = planned.kind === 'none' ? [] : planned.changes;
  return {
    service,
    key: keyed('landfall plan'),
    tenant_id: deployment?.tenant_id ?? tenantId ?? null,
    deployment_id: deployment?.id ?? null,
    deployment_name: deployment?.name ?? desired.name ?? null,
    latest_revision_id: deployment?.latest_revision_id ?? null,
    active_revision_id: deployment?.active_revision_id ?? null,
    commit: commit.kind === 'known' ? commit.sha : null,
    plan: planned.kind,
    fields: changes.map(({ field }) => field),
    change: plain(changes.map(shownChange)),
    settings: plain(changes.filter(isOfSettings).map(shownChange)),
    file: digestsOf(own, (name, value) => [toKebab(name), plain(value)]),
    deployment: digestsOf(held, (name, value) => [name, plain(value)]),
    secrets: Object.fromEntries([
      ...(secrets ?? []).map(({ name, value }) => [`file ${name}`, keyed(value)]),
      ['file resource-spec', keyed(canonicalJson(['resourceSpec' in desired ? desired.resourceSpec : undefined]))],
      ...(deployment?.secrets ?? []).flatMap((each) => {
        const value = shownValue(each);
        return value === undefined ? [] : [[`deployment ${each.name}`, keyed(value)]];
      }),
      ['deployment resource_spec', keyed(canonicalJson([deployment?.source_config.resource_spec]))],
    ]),
  };
}

const shownChange = ({ field, from, to, makesRevision }: FieldChange) => [field, from, to, makesRevision];

/**
 * Whether a change does not follow from values of secrets. A key that may only read sees none of them, so that each is
 * taken to differ; a build is then requested by them, and else by the source.
 */
const isOfSettings = ({ field, why }: FieldChange): boolean =>
  !field.startsWith('secrets.') && why.code !== 'restated' && why.code !== 'uploaded';

/** The fields of a deployment that a plan may depend on; of its secrets the names. */
function heldFields(deployment: Deployment | undefined): Record<string, unknown> {
  if (!deployment) return {};
  const fields = fieldRules
    .filter(({ path }) => path.includes('.'))
    .map(({ path }) => [path, heldAt(deployment, path)]);
  return {
    ...Object.fromEntries(fields),
    secrets: deployment.secrets?.map(({ name }) => name).toSorted(),
    secret_references: deployment.secret_references?.map((each) => canonicalJson(each)).toSorted(),
  };
}

const digestsOf = (
  values: Readonly<Record<string, unknown>>,
  entry: (name: string, value: unknown) => [string, string],
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [entry(name, value)])),
  );

/** The value without those of environment variables of containers, which may be secrets. */
function withoutValues(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutValues);
  if (!isObject(value)) return value;
  const { env, ...rest } = value;
  const inner = Object.entries(rest).map(([name, each]) => [name, withoutValues(each)]);
  const names = Array.isArray(env) ? env.map((each: unknown) => (isObject(each) ? each['name'] : each)) : env;
  return Object.fromEntries(env === undefined ? inner : [...inner, ['env', names]]);
}

const planFile = 'plan-file';

/**
 * What keeps a deploy from applying a plan: it is of something else, or something changed since. A plan that leaves
 * nothing to send was applied already, by this run before it was ended, or by somebody else: then only what it is of is
 * compared.
 */
export function boundPlanObstacles(saved: SavedPlan, facts: PlanFacts, now: number): Obstacle[] {
  const identity = otherTarget(saved, facts);
  if (identity.length > 0) return identity;
  const own = [...otherCommit(saved, facts), ...changedIn('file', saved, facts)];
  if (facts.plan === 'none') return own;
  const isCreated = saved.deployment_id === null && facts.deployment_id !== null;
  const since = isCreated
    ? [{ field: planFile, code: 'plan-created', id: facts.deployment_id ?? '' } as const]
    : [...otherRevisions(saved, facts), ...changedIn('deployment', saved, facts)];
  const all = [...tooOld(saved, now), ...own, ...since];
  const compared = saved.key === facts.key ? 'change' : 'settings';
  if (all.length > 0 || saved[compared] === facts[compared]) return all;
  return [{ field: planFile, code: 'plan-differs', planned: saved.fields, now: facts.fields }];
}

function otherTarget(saved: SavedPlan, facts: PlanFacts): Obstacle[] {
  // The name of a deployment that is to be created may be free in another tenant as well.
  const isAnyTenant = saved.tenant_id === null && facts.deployment_id === null && saved.key !== facts.key;
  if (isAnyTenant) return [{ field: 'tenant-id', code: 'plan-tenant-unknown' }];
  const pairs = [
    ['service', saved.service, facts.service],
    ['tenant', saved.tenant_id, facts.tenant_id],
    ['deployment', saved.deployment_id, facts.deployment_id],
    ['name', saved.deployment_name, facts.deployment_name],
  ] as const;
  return pairs.flatMap(([what, planned, found]): Obstacle[] => {
    // A deployment that was to be created had no id, and maybe no tenant.
    if (planned === null || planned === found || (what === 'tenant' && found === null)) return [];
    return [{ field: planFile, code: 'plan-of-other', what, planned, now: found }];
  });
}

function otherCommit({ commit: planned }: SavedPlan, { commit: now }: PlanFacts): Obstacle[] {
  const isSame = planned === null ? now === null : sameCommit(planned, now);
  return isSame ? [] : [{ field: 'commit', code: 'plan-commit', planned, now }];
}

function otherRevisions(saved: SavedPlan, facts: PlanFacts): Obstacle[] {
  const names = ['active_revision_id', 'latest_revision_id'] as const;
  const changed = names.find((name) => saved[name] !== facts[name]);
  if (changed === undefined) return [];
  const isLive = changed === 'active_revision_id';
  return [{ field: planFile, code: 'plan-revision', isLive, planned: saved[changed], now: facts[changed] }];
}

/** Secrets are compared where the same key made their digests; their names are always. */
function changedIn(part: 'file' | 'deployment', saved: SavedPlan, facts: PlanFacts): Obstacle[] {
  const fields = differing(saved[part], facts[part]);
  const isSameKey = saved.key === facts.key;
  const secrets = isSameKey
    ? differing(saved.secrets, facts.secrets).filter((name) => name.startsWith(`${part} `))
    : [];
  const names = secrets.map((name) => name.slice(part.length + 1));
  return [...new Set([...fields, ...names])].map((field) => ({ field, code: 'plan-changed', part }));
}

const differing = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): string[] => {
  const [before, after] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
  return [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name));
};

function tooOld({ made_at: madeAt }: SavedPlan, now: number): Obstacle[] {
  const age = now - Date.parse(madeAt);
  const isTimely = age >= -skewMs && age <= maxPlanHours * 3_600_000;
  return isTimely ? [] : [{ field: planFile, code: 'plan-too-old', madeAt, maxHours: maxPlanHours }];
}
