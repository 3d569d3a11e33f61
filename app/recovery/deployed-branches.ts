import { isTagRef } from '../../src/contract/control/repo-ref.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { isRepositoryNamed } from '../../src/deploy/file/repository-url.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import type { Binding } from '../settings/environment.ts';
import { readAll, type ListedDeployment } from '../targets/listed-deployments.ts';

/** Returns the deployed branches of a repository, without reading the repository. */
export type BranchesOf = (repository: InstallationRepository) => readonly string[];

/** The fields of a deployment that decide which branch it is built from. */
export type BranchDeployment = Pick<
  ListedDeployment,
  'id' | 'name' | 'source' | 'source_config' | 'source_revision_config'
>;

/**
 * Reads the deployments of the service; undefined if it offers no list. Ownership is not checked: this only selects the
 * repositories that are worth a request to GitHub. @throws ServiceError
 */
export async function deployedBranches(
  control: Pick<ControlService, 'listDeployments'>,
  bound?: readonly Binding[],
): Promise<BranchesOf | undefined> {
  const listed = await readAll(control);
  return listed.kind === 'listed' ? (repository) => branchesOf(repository, listed.deployments, bound) : undefined;
}

/** The branches of a repository from which deployments are built: its own, and those bound to it. */
export function branchesOf(
  { owner, name }: Pick<InstallationRepository, 'owner' | 'name'>,
  deployments: readonly BranchDeployment[],
  bound: readonly Binding[] = [],
): string[] {
  const repositoryName = `${owner}/${name}`.toLowerCase();
  const boundDeployments = new Set(
    bound.filter(({ repository }) => repository === repositoryName).map(({ deployment }) => deployment),
  );
  const refs = deployments
    .filter(({ source }) => source === 'github')
    .filter(
      ({ id, name: named, source_config: { repo_url: address } }) =>
        boundDeployments.has(id) ||
        boundDeployments.has(named) ||
        (address ? isRepositoryNamed(address, owner, name) : false),
    )
    .map(({ source_revision_config: { repo_ref: ref } }) => ref);
  return [...new Set(refs)].filter((ref) => typeof ref === 'string').filter((ref) => ref !== '' && !isTagRef(ref));
}
