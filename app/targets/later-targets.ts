import { isTagRef } from '../../src/contract/control/repo-ref.ts';
import type { Named } from '../../src/deploy/file/desired.ts';
import type { LaterTarget, Targets } from '../context.ts';
import type { DeployTerms } from '../reconcile/deploy-request.ts';
import type { FileEntry } from './file-entries.ts';
import type { ListedDeployment } from './listed-deployments.ts';
import type { Selection } from './select-targets.ts';

interface Readings {
  termsOf: (entry: FileEntry, deployment: ListedDeployment) => DeployTerms;
  /** What a deployment is built from, in one spelling; empty where it says nothing. */
  refOf: (deployment: ListedDeployment) => string;
}

/** What the deploy file orders after the deployments of a branch, and what of it can't be acted upon. */
interface LaterTargets {
  later: LaterTarget[];
  refused: Targets['refused'];
}

/**
 * The deployments of later environments whose commits are pushed to the branch: each is promoted from the one before,
 * which may lend its build. So the repository has to control both.
 *
 * @param firstEntries one entry of each deployment that is there.
 */
export function laterTargets(
  firstEntries: readonly FileEntry[],
  entries: readonly FileEntry[],
  { repository, branch, ownership }: Pick<Selection, 'repository' | 'branch' | 'ownership'>,
  { termsOf, refOf }: Readings,
): LaterTargets {
  const decided = firstEntries.flatMap(
    (entry): ({ later: LaterTarget } | { refused: Targets['refused'][number] })[] => {
      const before = entryBefore(entry, entries);
      if (!before || branchOf(before, entries, refOf) !== branch) return [];
      const refuse = (why: string) => [{ refused: { deployment: entry.label, why } }];
      // One that is not there is reported with the entries of its own branch.
      if (!entry.found.ok) return [];
      if (!before.found.ok) return refuse(`it comes after ${before.label}, and ${before.found.why}`);
      const { deployment } = entry.found;
      const earlier = before.found.deployment;
      // Reported with the deployments that pushes are for.
      if (ownership.refusal(repository, deployment) !== undefined) return [];
      const why = ownership.refusal(repository, earlier);
      if (why !== undefined) return refuse(`it comes after ${before.label}, and of that one ${why}`);
      const repoRef = refOf(deployment);
      // What pushes build beside its promotions is reported where its branch is pushed.
      if (!isPromotable(deployment) || repoRef === '' || isTagRef(repoRef)) return [];
      const promotedFrom = { deploymentId: earlier.id, name: earlier.name };
      const terms = { ...termsOf(entry, deployment), promotedFrom };
      return [{ later: { deploymentId: deployment.id, repoRef, terms } }];
    },
  );
  return {
    later: decided.flatMap((each) => ('later' in each ? [each.later] : [])),
    refused: decided.flatMap((each) => ('refused' in each ? [each.refused] : [])),
  };
}

const isPromotable = ({ source, status, source_config: { build_on_push } }: ListedDeployment): boolean =>
  source === 'github' && build_on_push !== true && !status.endsWith('_DELETE');

/** The names of the deployments that the file has promoted from this one. */
export function promotedFromIt(id: string, entries: readonly FileEntry[]): string[] {
  return entries.flatMap((entry) => {
    const before = entryBefore(entry, entries);
    const isIt = before?.found.ok === true && before.found.deployment.id === id;
    return isIt ? [entry.found.ok ? entry.found.deployment.name : entry.label] : [];
  });
}

const entryBefore = (entry: FileEntry, entries: readonly FileEntry[]): FileEntry | undefined => {
  const after = entry.requested?.after;
  return after && entries.find((each) => isNamed(each, after));
};

const isNamed = ({ requested, label }: FileEntry, { name, deploymentId }: Named): boolean =>
  deploymentId === undefined ? label === name : (requested?.desired.deploymentId ?? label) === deploymentId;

/** The branch from which the commits of a deployment come: that of the first environment. */
function branchOf(entry: FileEntry, entries: readonly FileEntry[], refOf: Readings['refOf']): string | undefined {
  const seen = new Set<FileEntry>();
  let first = entry;
  for (let before = entryBefore(first, entries); before && !seen.has(before); before = entryBefore(first, entries)) {
    seen.add(first);
    first = before;
  }
  return first.found.ok ? refOf(first.found.deployment) : undefined;
}
