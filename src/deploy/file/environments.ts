import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import { problemsOf } from '../../kit/diagnostics/issues.ts';
import { quoted } from '../../kit/diagnostics/format-issue.ts';
import { fieldName, type SourcePositions, type Problem } from '../../kit/diagnostics/problem.ts';
import { isObject } from '../../kit/json-object.ts';
import { freezeField } from './environment-gate.ts';
import { draftProblem, fieldProblem, identityOf, type FileDraft } from './draft.ts';

const maxEnvironments = 10;

const environmentName = z.string().trim().min(1).max(255);

const environment = z.union([
  environmentName.transform((name) => ({ name })),
  z.strictObject({
    name: environmentName,
    hold: z.boolean().exactOptional(),
    freeze: freezeField.exactOptional(),
  }),
]);

/** The environments of a file in the order in which a commit reaches them, with what keeps deploys from them. */
export const environmentsField = z
  .array(environment)
  .min(1)
  .max(maxEnvironments)
  .refine((all) => new Set(all.map(({ name }) => normalized(name))).size === all.length, {
    message: 'must name each environment once',
  });

const fileFields = z.object({ environments: environmentsField });

type Environment = z.output<typeof environment>;

/** What decides the content of a build: a deployment is promoted from one that agrees in these. */
export const fieldsOfBuild = ['repo-url', 'graph-config-path', 'install-command', 'build-command'] as const;

/** The deployments of a file, each of a later environment with the one that it is promoted from. */
export type OrderedDrafts = { ok: true; drafts: FileDraft[] } | { ok: false; problems: Problem[] };

/**
 * Finds for each deployment of a later environment the one of the environment before that is built alike: what that one
 * has proven is deployed to it.
 */
export function orderDrafts(
  drafts: readonly FileDraft[],
  environments: unknown,
  places: SourcePositions,
): OrderedDrafts {
  const read = fileFields.safeParse({ environments });
  const problem = (path: (string | number)[], message: string): Problem => ({
    file: places.file,
    ...(path.length > 1 ? places.placeOf(path) : places.placeOfKey(path)),
    field: fieldName(path),
    message,
  });
  if (!read.success)
    return {
      ok: false,
      problems: problemsOf(read.error.issues, { schema: fileFields, value: { environments }, places }),
    };
  const listed = read.data.environments;
  const names = listed.map(({ name }) => normalized(name));
  const byName = Map.groupBy(drafts, environmentOf);
  const empty = names.flatMap((name, index) =>
    byName.has(name)
      ? []
      : [
          problem(
            ['environments', index],
            `no deployment of this file has the environment ${quoted([listed[index]?.name ?? name])}`,
          ),
        ],
  );
  const likelyTypos = drafts.flatMap((draft) => {
    const written = draft.fields.get('environment');
    const name = environmentOf(draft) ?? '';
    const meant = written && !names.includes(name) ? didYouMean(name, names) : undefined;
    const message = 'is not among `environments`';
    return written && meant !== undefined ? [fieldProblem(written, ['environment'], message, meant)] : [];
  });
  const ordered = drafts.map((draft) => {
    const place = names.indexOf(environmentOf(draft) ?? '');
    const before = place > 0 ? names[place - 1] : undefined;
    const gated = withGate(draft, listed[place]);
    return before === undefined
      ? { draft: gated, problems: [] }
      : promotedFrom(gated, before, byName.get(before) ?? []);
  });
  const problems = [...empty, ...likelyTypos, ...ordered.flatMap((each) => each.problems)];
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, drafts: ordered.map(({ draft }) => ({ ...draft, isOrdered: true })) };
}

/** Warns of deployments that prove nothing, though others are promoted from them. */
export function unprovenWarnings(drafts: readonly FileDraft[]): Problem[] {
  return drafts.flatMap((draft) => {
    const own = identityOf(draft);
    const later = drafts.filter(({ after }) => isDeepStrictEqual(after, own));
    const tests = draft.fields.get('smoke-tests');
    const isTested = tests !== undefined && !(Array.isArray(tests.value) && tests.value.length === 0);
    if (isTested || later.length === 0) return [];
    const names = quoted(later.flatMap((each) => identityOf(each).name ?? identityOf(each).deploymentId ?? []));
    const message = `no smoke test proves what it serves, so nothing is promoted to ${names}: add \`smoke-tests\``;
    return [tests ? fieldProblem(tests, ['smoke-tests'], message) : draftProblem(draft, message)];
  });
}

function withGate(draft: FileDraft, environment: Environment | undefined): FileDraft {
  if (environment === undefined || !('hold' in environment || 'freeze' in environment)) return draft;
  const { name, hold = false, freeze = [] } = environment;
  return { ...draft, gate: { environment: name, hold, freeze } };
}

/** Turns off `build-on-push`, which may be on at the service: commits come from the environment before. */
function withoutPushes(draft: FileDraft): FileDraft {
  const name = draft.fields.get('name');
  return name ? { ...draft, fields: new Map([['build-on-push', { ...name, value: false }], ...draft.fields]) } : draft;
}

/** GitHub ignores case in the names of environments. */
const normalized = (name: string): string => name.trim().toLowerCase();

/** The environment of a deployment: the one that it names, else its name. */
function environmentOf({ fields, key }: FileDraft): string | undefined {
  const written = fields.get('environment')?.value;
  const name = isObject(written) ? written['name'] : (written ?? fields.get('name')?.value ?? key);
  return typeof name === 'string' ? normalized(name) : undefined;
}

function promotedFrom(
  draft: FileDraft,
  before: string,
  candidates: readonly FileDraft[],
): { draft: FileDraft; problems: Problem[] } {
  const otherSource = ['image-uri', 'source-dir', 'source'].find((name) => {
    const written = draft.fields.get(name);
    return written !== undefined && !(name === 'source' && written.value === 'github');
  });
  const written = otherSource === undefined ? undefined : draft.fields.get(otherSource);
  if (otherSource !== undefined && written) {
    const message = `after the first environment, deployments are built from a repository: use the source github, or end \`environments\` with ${quoted([before])}`;
    return { draft, problems: [fieldProblem(written, [otherSource], message)] };
  }
  const pushed = draft.fields.get('build-on-push');
  if (pushed?.value === true) {
    const message = `pushes go to the first environment: remove it here, because commits come from ${quoted([before])}`;
    return { draft, problems: [fieldProblem(pushed, ['build-on-push'], message)] };
  }
  const alike = candidates.filter((each) =>
    fieldsOfBuild.every((name) => each.fields.get(name)?.value === draft.fields.get(name)?.value),
  );
  const [from, ...more] = alike;
  if (from && more.length === 0) return { draft: { ...withoutPushes(draft), after: identityOf(from) }, problems: [] };
  if (candidates.length === 0) return { draft, problems: [] };
  const found = from ? `are ${alike.length}` : 'is none';
  const message = `exactly one deployment of the environment ${quoted([before])} must have the ${fieldsOfBuild.map((name) => `\`${name}\``).join(', ')} of this one, which gets its build: there ${found}`;
  return { draft, problems: [draftProblem(draft, message)] };
}
