import { repositoryParameters, paginate, type GitHubClient, type RepositoryName } from './client.ts';
import { externalIdOf, newestStatus, writeDeploymentStatus } from './deployment.ts';

/** Selects GitHub Deployments: those of these Landfall deployments in an environment. */
export interface OwnDeployments {
  repository: RepositoryName;
  environment: string;
  names: readonly string[];
}

interface OwnDeployment {
  id: number;
  commit: string;
  description: string;
}

/** How many are inspected, because each takes a request. */
const maxInspected = 300;

/** Yields our GitHub Deployments of the environment, newest first, whether created by the Action or by the App. */
export async function* ownDeployments(client: GitHubClient, scope: OwnDeployments): AsyncGenerator<OwnDeployment> {
  const parameters = { ...repositoryParameters(scope.repository), environment: scope.environment };
  const deployments = paginate(
    async (page) => (await client.request('GET /repos/{owner}/{repo}/deployments', { ...parameters, ...page })).data,
  );
  let inspected = 0;
  for await (const { id, sha, description, payload } of deployments) {
    inspected += 1;
    if (inspected > maxInspected) return;
    if (isOwn(payload, description ?? '', scope.names))
      yield { id: Number(id), commit: sha, description: description ?? '' };
  }
}

/** The Action's external id ends with the name. The App's is a random id, but its description begins with the name. */
function isOwn(payload: unknown, description: string, names: readonly string[]): boolean {
  const externalId = externalIdOf(payload);
  if (typeof externalId !== 'string') return false;
  const name = /^[^ ]*-\d+ (.*)$/s.exec(externalId)?.[1];
  return name === undefined ? names.some((each) => description.startsWith(`${each} at `)) : names.includes(name);
}

/** The states in which GitHub shows a deployment as active or pending. */
const activeStates: ReadonlySet<string | undefined> = new Set([
  'success',
  'in_progress',
  'queued',
  'pending',
  undefined,
]);

/** After so many inactive ones in a row, earlier runs have already retired the older ones. */
const maxRetiredInARow = 20;

/** Sets our GitHub Deployments to `inactive`. @param options.olderThan retires only those before this id. */
export async function retireDeployments(
  client: GitHubClient,
  scope: OwnDeployments,
  {
    olderThan = Infinity,
    why: reason,
    logUrl,
  }: { olderThan?: number | undefined; why: string; logUrl?: string | undefined },
): Promise<void> {
  let retiredInARow = 0;
  for await (const { id } of ownDeployments(client, scope)) {
    if (id >= olderThan) continue;
    const isActive = activeStates.has((await newestStatus(client, scope.repository, id))?.state);
    retiredInARow = isActive ? 0 : retiredInARow + 1;
    if (retiredInARow >= maxRetiredInARow) return;
    if (!isActive) continue;
    const desired = {
      environment: scope.environment,
      state: 'inactive',
      description: reason,
      production: false,
    } as const;
    await writeDeploymentStatus(client, scope, id, { ...desired, transient: false, ...(logUrl ? { logUrl } : {}) });
  }
}
