import { isProduction } from '../../src/deploy/commands/decide.ts';
import { defaultConfigPath } from '../../src/deploy/file/deploy-file.ts';
import { isTagRef } from '../../src/contract/control/repo-ref.ts';
import { heldAt, requestedFields, sameField, displayValue, spelledRef } from '../../src/deploy/rules/plan-fields.ts';
import type { Target, Targets } from '../context.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import { type DeployFile, type FileEntry, findEntries } from './file-entries.ts';
import { laterTargets, promotedFromIt } from './later-targets.ts';
import type { ListedDeployment } from './listed-deployments.ts';
import type { Ownership } from './ownership.ts';
import type { Desired, PushedDeployment } from '../../src/deploy/file/desired.ts';
import { defaultSkipWords, type NamedEnvironment } from '../../src/deploy/file/push-fields.ts';
import type { DeployTerms } from '../reconcile/deploy-request.ts';

/** The input of `selectTargets`. */
export interface Selection {
  repository: InstallationRepository;
  /** Plain name. */
  branch: string;
  defaultBranch: string;
  deployments: readonly ListedDeployment[];
  /** False if the service offers no list, so that only deployments that the file names by id are known. */
  areAll: boolean;
  file: DeployFile;
  ownership: Ownership;
  common: CommonTerms;
}

/**
 * The targets of a branch. The service decides which deployments (docs/design/contract.md#states: a push to `repo_ref`
 * where `build_on_push` is true); the file adds rules. Ownership is checked first.
 */
export function selectTargets(selection: Selection): Targets {
  const entries = findEntries(selection.file, selection.deployments, selection.areAll);
  const entryById = firstEntries(entries);
  const decisions = selection.deployments.flatMap((deployment) => {
    const isShared = sharedWith(deployment.id, entryById);
    return decideTarget(deployment, entryById.get(deployment.id), selection, isShared);
  });
  const withPromotions = <Each extends Target>(target: Each): Each => {
    const promotesTo = promotedFromIt(target.deploymentId, entries);
    return promotesTo.length > 0 ? { ...target, terms: { ...target.terms, promotesTo } } : target;
  };
  const { later, refused } = laterTargets([...entryById.values()], entries, selection, {
    refOf,
    termsOf: ({ requested, notes }, deployment) => {
      const isShared = sharedWith(deployment.id, entryById);
      return termsOf(deployment, requested, [...selection.file.notes, ...notes], selection.common, isShared);
    },
  });
  return {
    targets: decisions.flatMap((each) => ('target' in each ? [withPromotions(each.target)] : [])),
    ...(later.length > 0 ? { later: later.map(withPromotions) } : {}),
    refused: [
      ...decisions.flatMap((each) => ('refused' in each ? [each.refused] : [])),
      ...refused,
      ...entries.flatMap((entry) => unmatchedEntry(entry, selection)),
      ...fileProblems(
        selection,
        decisions.some((each) => 'target' in each),
      ),
    ],
  };
}

const refOf = ({ source_revision_config: { repo_ref: ref } }: ListedDeployment): string => spelledRef(ref ?? '');

type TargetDecision = { target: Target } | { refused: Targets['refused'][number] };

function decideTarget(
  deployment: ListedDeployment,
  entry: FileEntry | undefined,
  selection: Selection,
  isShared: (environment: string) => boolean,
): TargetDecision[] {
  const { repository, branch, ownership, file, common } = selection;
  const requested = entry?.requested?.desired;
  const refuse = (why: string): TargetDecision[] => [{ refused: { deployment: entry?.label ?? deployment.name, why } }];
  if (!entry && isPreview(deployment)) return [];
  // No push builds an image or a folder. If file and service agree on such a source, the Action deploys it.
  if (deployment.source !== 'github' && requested?.source === deployment.source) return [];
  const ownershipProblem = ownership.refusal(repository, deployment);
  if (ownershipProblem !== undefined) return entry && isReportedOn(entry, selection) ? refuse(ownershipProblem) : [];
  if (deployment.source !== 'github') {
    return entry && isReportedOn(entry, selection)
      ? refuse(`its source is ${deployment.source}, and only a deployment from a repository is built on push`)
      : [];
  }
  const ref = refOf(deployment);
  if (ref === '' || isTagRef(ref) || ref !== branch) {
    return requested?.source === 'github' && requested.repoRef === branch
      ? refuse(`the service builds another ref of it than the file requests; ${howToApply}`)
      : [];
  }
  if (deployment.status.endsWith('_DELETE')) return refuse('it is being deleted at the service');
  if (deployment.source_config.build_on_push !== true) {
    const requestedBuild = requested?.source === 'github' ? requested.buildOnPush : undefined;
    if (requestedBuild === false) return [];
    return refuse(
      requestedBuild
        ? `build_on_push is off at the service, while the file requests it; ${howToApply}`
        : 'build_on_push is off at the service',
    );
  }
  const after = entry?.requested?.after;
  if (after !== undefined) return refuse(`it comes after ${after.name ?? after.deploymentId}, and ${howToPromote}`);
  // Its unknown rules may forbid this push.
  if (file.unread !== undefined)
    return [{ refused: { deployment: deployment.name, why: unreadFile(file.unread), isFailure: true } }];
  const notes = [...file.notes, ...(entry?.notes ?? [])];
  const terms = termsOf(deployment, entry?.requested, notes, common, isShared);
  const unknown = {
    ...(terms.unread && file.hasAdmins ? { areAdminsUnknown: true as const } : {}),
    ...(terms.unread && file.hasGates ? { isGateUnknown: true as const } : {}),
  };
  return [{ target: { deploymentId: deployment.id, repoRef: ref, terms: { ...terms, ...unknown } } }];
}

/**
 * Whether a deployment is the preview of a pull request to whichever repository, by the end of its name: no push deploys
 * it. What people name alike is built on push, or has other digits at its end.
 */
const isPreview = ({ name, source_config: { build_on_push } }: ListedDeployment): boolean =>
  build_on_push !== true && /-pr-[1-9]\d*-[0-9a-f]{16}$/.test(name);

/** The deployments of this repository that pushes build from another branch. */
export const builtElsewhere = ({ deployments, repository, branch, ownership }: Selection) =>
  deployments.flatMap((deployment) => {
    const { name, source, source_config: config, source_revision_config: revision, status } = deployment;
    const ref = spelledRef(revision.repo_ref ?? '');
    const isBuilt = source === 'github' && config.build_on_push === true && !status.endsWith('_DELETE');
    const isElsewhere = ref !== '' && !isTagRef(ref) && ref !== branch;
    return isBuilt && isElsewhere && ownership.refusal(repository, deployment) === undefined
      ? [{ deployment: name, branch: ref }]
      : [];
  });

/** Why a deployment is not acted upon: the branch that it is built from is gone. */
export const branchGone = (branch: string): string =>
  `it is built from the branch ${branch}, which this repository does not have; ${howToApply}`;

const unreadFile = (why: string): string =>
  `the deploy file could not be read, so this push is not deployed: ${why}, or press Re-run to read it again`;

/** Returns whether another deployment of the file uses an environment. GitHub ignores case in its name. */
function sharedWith(id: string, entryById: ReadonlyMap<string, FileEntry>): (environment: string) => boolean {
  const others = [...entryById].flatMap(([each, { requested, found, label }]) =>
    each === id
      ? []
      : [(requested?.push.environment?.name ?? (found.ok ? found.deployment.name : label)).toLowerCase()],
  );
  return (environment) => others.includes(environment.toLowerCase());
}

/**
 * Whether an entry without a target is reported on this branch: on the branch of the entry, else on the default one.
 */
const isReportedOn = ({ requested }: FileEntry, { branch, defaultBranch }: Selection): boolean =>
  branch === (requested?.desired.source === 'github' ? (requested.desired.repoRef ?? defaultBranch) : defaultBranch);

/** The first entry of each deployment by its id; further ones are reported with it. */
function firstEntries(entries: readonly FileEntry[]): Map<string, FileEntry> {
  const firstById = new Map<string, FileEntry>();
  for (const entry of entries) {
    if (!entry.found.ok) continue;
    const { id } = entry.found.deployment;
    const earlier = firstById.get(id);
    const note = earlier && `the file names it twice, as ${earlier.label} and as ${entry.label}: the first one counts`;
    firstById.set(id, earlier && note ? { ...earlier, notes: [...earlier.notes, note] } : entry);
  }
  return firstById;
}

function unmatchedEntry(entry: FileEntry, selection: Selection): Targets['refused'] {
  const { found, label, requested, notes } = entry;
  if (found.ok || !isReportedOn(entry, selection) || (requested && requested.desired.source !== 'github')) return [];
  return [{ deployment: label, why: [found.why, ...notes].join('; ') }];
}

/** An unreadable file is reported with the targets, or by itself if there are none. */
function fileProblems({ file, branch, defaultBranch }: Selection, isReported: boolean): Targets['refused'] {
  if (file.unread !== undefined && branch === defaultBranch) {
    return [{ deployment: defaultConfigPath, why: unreadFile(file.unread), isFailure: true }];
  }
  if (file.notes.length === 0 || isReported || branch !== defaultBranch) return [];
  return [{ deployment: defaultConfigPath, why: file.notes.join('; ') }];
}

/** What the operator decides for every deployment. */
export interface CommonTerms {
  builder: DeployTerms['builder'];
  /** How long a revision is waited for (ms). */
  timeoutMs: number;
}

/** The terms of a deployment from the file. `isShared`: whether another deployment goes to this environment, too. */
export function termsOf(
  deployment: ListedDeployment,
  requested: PushedDeployment | undefined,
  notes: readonly string[],
  common: CommonTerms,
  isShared: (environment: string) => boolean = () => false,
): DeployTerms {
  const differences = requested ? differencesOf(requested.desired, deployment) : [];
  const { environment, admins, ...rules } = requested?.push ?? {
    admins: undefined,
    skipWords: defaultSkipWords,
    afterRollback: 'continue' as const,
  };
  return {
    deploymentName: deployment.name,
    ...common,
    rules,
    smokeTests: requested?.smokeTests ?? [],
    ...(requested?.conversations ? { conversations: requested.conversations } : {}),
    ...(requested === undefined && notes.length > 0 ? { unread: true } : {}),
    ...(requested?.verify ? { verify: requested.verify } : {}),
    onFailure: requested?.onFailure ?? 'keep',
    ...(requested ? { onUnproven: requested.onUnproven } : {}),
    environment: environmentOf(deployment, environment, isShared),
    ...(requested?.gate ? { gate: requested.gate } : {}),
    ...(admins ? { admins } : {}),
    differences,
    notes: [...notes, ...(requested?.notes ?? [])],
  };
}

/** By default each deployment has its own environment, so that none deactivates another's. */
function environmentOf(
  deployment: ListedDeployment,
  named: NamedEnvironment | undefined,
  isShared: (environment: string) => boolean,
): DeployTerms['environment'] {
  const name = named?.name ?? deployment.name;
  const production = isProduction({ name, production: named?.production }, deployment.source_config.deployment_type);
  return { name, production, transient: named?.transient ?? false, ...(isShared(name) ? { shared: true } : {}) };
}

/** What to do about a deployment of a later environment. */
const howToPromote =
  'the Action, or `npx landfall deploy`, deploys what that one has proven. That also turns its build_on_push off, which is still on at the service';

/** What to do if the file and the deployment differ. */
const howToApply =
  'the App neither creates nor reconfigures deployments: run the Action, or `npx landfall deploy`, to apply the file';

/** The plain fields whose values in the file and at the service differ, by their API names. */
function differencesOf(desired: Desired, deployment: ListedDeployment): DeployTerms['differences'] {
  const { source } = deployment;
  const sourceDifferences = desired.source === source ? [] : [{ field: 'source', from: source, to: desired.source }];
  const fieldDifferences = requestedFields(desired)
    .map(({ path, value }) => ({ path, value, held: heldAt(deployment, path) }))
    .filter(({ path, value, held }) => !sameField(path, value, held))
    .map(({ path, value, held }) => ({ field: path, from: displayValue(path, held), to: displayValue(path, value) }));
  return [...sourceDifferences, ...fieldDifferences];
}
