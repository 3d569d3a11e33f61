import { isTagRef } from '../../src/contract/control/repo-ref.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import type { Deployment, DeploymentsList } from '../../src/contract/control/deployment.ts';
import { isNotOffered } from '../../src/contract/service-error.ts';
import { isRepositoryNamed } from '../../src/decide/repository-url.ts';
import type { RepositoryAt } from '../repository.ts';

/** Which branches of a repository something is deployed from, as far as can be told without looking into it. */
export type BranchesOf = (repository: RepositoryAt) => readonly string[];

/** What decides about a branch in a list of deployments. */
export type ListedDeployment = Pick<Deployment, 'id' | 'name' | 'source' | 'source_config' | 'source_revision_config'>;

/** A deployment that the operator lets another repository act on. */
export interface BoundDeployment {
  /** `owner/name` in lower case. */
  repository: string;
  /** The deployment's id or name. */
  deployment: string;
}

const pageSize = 100;

/**
 * Reads once what the service deploys. Whether a repository may act on a deployment is not decided here: this only
 * says where looking is worth a request to GitHub.
 *
 * @returns undefined where the service does not list its deployments.
 * @throws ServiceError
 */
export async function deployedBranches(
  control: Pick<ControlService, 'listDeployments'>,
  bound: readonly BoundDeployment[] = [],
): Promise<BranchesOf | undefined> {
  const deployments = await allDeployments(control);
  return deployments && ((repository) => branchesOf(repository, deployments, bound));
}

/** The branches of a repository that deployments of its own, or bound to it, are built from. */
export function branchesOf(
  { owner, name }: Pick<RepositoryAt, 'owner' | 'name'>,
  deployments: readonly ListedDeployment[],
  bound: readonly BoundDeployment[] = [],
): string[] {
  const full = `${owner}/${name}`.toLowerCase();
  const ours = new Set(bound.filter(({ repository }) => repository === full).map(({ deployment }) => deployment));
  const refs = deployments
    .filter(({ source }) => source === 'github')
    .filter(
      ({ id, name: named, source_config: { repo_url: address } }) =>
        ours.has(id) || ours.has(named) || (address ? isRepositoryNamed(address, owner, name) : false),
    )
    .map(({ source_revision_config: { repo_ref: ref } }) => ref);
  return [...new Set(refs)].filter((ref) => typeof ref === 'string').filter((ref) => ref !== '' && !isTagRef(ref));
}

async function allDeployments(
  control: Pick<ControlService, 'listDeployments'>,
): Promise<ListedDeployment[] | undefined> {
  const found = new Map<string, ListedDeployment>();
  for (let offset = 0; ; offset += pageSize) {
    const page = await listed(control, offset);
    if (page === undefined) return undefined;
    const before = found.size;
    for (const each of page.resources) found.set(each.id, each);
    if (page.resources.length < pageSize || found.size === before) return [...found.values()];
  }
}

async function listed(
  control: Pick<ControlService, 'listDeployments'>,
  offset: number,
): Promise<DeploymentsList | undefined> {
  try {
    return await control.listDeployments({ limit: pageSize, offset });
  } catch (error) {
    if (isNotOffered(error)) return undefined;
    throw error;
  }
}
