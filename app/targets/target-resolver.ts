import type { Logger } from '../../src/kit/logger.ts';
import type { Clock } from '../../src/kit/clock.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { ifFound } from '../../src/contract/service-error.ts';
import { type GitHubApi, fullName, type InstallationRepository } from '../github/github-api.ts';
import { type FileReader, inProcessReader } from '../worker/file-readers.ts';
import type { AppContext, Target, TargetResolver, Targets } from '../context.ts';
import type { Binding } from '../settings/environment.ts';
import { createDeployFileReader } from './deploy-file-reader.ts';
import type { DeployFile } from './file-entries.ts';
import { createDeploymentsReader, type DeploymentListing, type ListedDeployment } from './listed-deployments.ts';
import { createOwnership } from './ownership.ts';
import { branchGone, builtElsewhere, selectTargets, type CommonTerms, type Selection } from './select-targets.ts';

export interface TargetResolverOptions {
  githubApi: Pick<GitHubApi, 'defaultBranch' | 'file' | 'head'>;
  control: Pick<ControlService, 'listDeployments' | 'getDeployment'>;
  clock: Pick<Clock, 'now'>;
  bindings: readonly Binding[];
  /** Where GitHub's repositories are reached, for example `github.com`: see `webHostOf`. */
  webHost: string;
  builder: CommonTerms['builder'];
  log: Logger;
  /** Reads deploy files; in this process by default. */
  files?: Pick<FileReader, 'namedPaths' | 'readDeployFile'>;
  /** Timeout for a revision; half an hour by default. */
  timeoutMs?: number;
  /** How long a list of deployments is cached (ms); three seconds by default. */
  freshMs?: number;
}

const halfAnHourMs = 30 * 60_000;
const threeSecondsMs = 3_000;
/** How many other branches are looked up if a branch deploys nothing. */
const maxBranches = 5;

/**
 * Finds what a branch deploys: deployments of the service's list, with the rules that the deploy file of the default
 * branch adds. Nothing of a pull request's head is read.
 */
export function createTargetResolver(options: TargetResolverOptions): TargetResolver {
  const { githubApi, control, clock, bindings, webHost, builder, log, files = inProcessReader } = options;
  const common: CommonTerms = { builder, timeoutMs: options.timeoutMs ?? halfAnHourMs };
  const ownership = createOwnership(webHost, bindings);
  const listed = createDeploymentsReader(control, clock, options.freshMs ?? threeSecondsMs);
  const fileReader = createDeployFileReader({ githubApi, clock, files });
  return {
    async targetsOf(repository: InstallationRepository, branch: string): Promise<Targets> {
      const startedAt = clock.now();
      const defaultBranch = await fileReader.defaultBranchOf(repository);
      const file = await fileReader.at(repository, defaultBranch);
      const selectionOf = async (all: DeploymentListing): Promise<Selection> => {
        const { deployments, areAll } = await deploymentsFor(file, all);
        return { repository, branch, defaultBranch, deployments, areAll, file, ownership, common };
      };
      const all = await listed();
      const cached = await selectionOf(all);
      const first = selectTargets(cached);
      // A cached list may lack a new deployment: never report "nothing to deploy" from it.
      const fresh = first.targets.length > 0 ? all : await listed(startedAt);
      const selection = fresh === all ? cached : await selectionOf(fresh);
      const found = fresh === all ? first : selectTargets(selection);
      const isRenamed = found.targets.length === 0 && branch === defaultBranch;
      const goneBranches = isRenamed ? await findGoneBranches(selection) : [];
      const selected = { ...found, refused: [...found.refused, ...goneBranches] };
      const ids = selected.targets.map(({ deploymentId }) => deploymentId).join(' ');
      const about = { repository: fullName(repository), branch, targets: ids, refused: selected.refused.length };
      log.info(about, 'targets found');
      return selected;
    },
  };

  /** Finds deployments whose branch is gone, as after the default branch was renamed. */
  async function findGoneBranches(selection: Selection): Promise<Targets['refused']> {
    const elsewhere = builtElsewhere(selection);
    const branches = [...new Set(elsewhere.map((each) => each.branch))].slice(0, maxBranches);
    const heads = await Promise.all(branches.map((each) => githubApi.head(selection.repository, each)));
    const gone = new Set(branches.filter((_, index) => heads[index] === undefined));
    return elsewhere
      .filter((each) => gone.has(each.branch))
      .map((each) => ({ deployment: each.deployment, why: branchGone(each.branch) }));
  }

  async function deploymentsFor(
    file: DeployFile,
    all: DeploymentListing,
  ): Promise<{ deployments: readonly ListedDeployment[]; areAll: boolean }> {
    if (all.kind === 'listed') return { deployments: all.deployments, areAll: true };
    const ids = new Set(file.entries.flatMap(({ read }) => (read.ok ? (read.value.desired.deploymentId ?? []) : [])));
    // Ids are valid UUIDs here: the file's reader reports others.
    const found = await Promise.all([...ids].map((id) => ifFound(control.getDeployment(id))));
    return { deployments: found.filter((each) => each !== undefined), areAll: false };
  }
}

/** The deployment on which a person requests an action. */
interface TargetRequest {
  repository: InstallationRepository;
  branch: string;
  deploymentId: string;
  deploymentName: string;
}

/** The target, or why the repository may not act on it: a clause without a full stop. */
type FoundTarget = { ok: true; target: Target } | { ok: false; why: string };

/** Resolves the target again, because that from the time of the check may be outdated. */
export async function targetFor(requested: TargetRequest, { targets: resolver }: AppContext): Promise<FoundTarget> {
  const { repository, branch, deploymentId, deploymentName } = requested;
  const { targets, refused, later = [] } = await resolver.targetsOf(repository, branch);
  const target = [...targets, ...later].find((each) => each.deploymentId === deploymentId);
  if (target) return { ok: true, target };
  const refusal = refused.find(({ deployment }) => deployment === deploymentName || deployment === deploymentId);
  return {
    ok: false,
    why: refusal?.why ?? `${branch} of ${fullName(repository)} does not deploy ${deploymentName} any more`,
  };
}
