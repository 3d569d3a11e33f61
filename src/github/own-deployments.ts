import { ofRepository, paginate, type GitHubClient, type RepositoryName } from './client.ts';
import { externalIdOf, newestStatus, writeDeploymentStatus } from './deployment.ts';

/** Which GitHub Deployments are meant: those that deployments of these names made for an environment. */
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

/** How many are looked at: every one takes a request. */
const maxLooked = 300;

/** Ours of the environment, newest first, whether the Action or the App made them. */
export async function* ownDeployments(client: GitHubClient, of: OwnDeployments): AsyncGenerator<OwnDeployment> {
  const place = { ...ofRepository(of.repository), environment: of.environment };
  const listed = paginate(
    async (page) => (await client.request('GET /repos/{owner}/{repo}/deployments', { ...place, ...page })).data,
  );
  let looked = 0;
  for await (const { id, sha, description, payload } of listed) {
    looked += 1;
    if (looked > maxLooked) return;
    if (isOwn(payload, description ?? '', of.names))
      yield { id: Number(id), commit: sha, description: description ?? '' };
  }
}

/** The Action's external id ends with the name; the App's is an id of its own, and its description begins with the name. */
function isOwn(payload: unknown, description: string, names: readonly string[]): boolean {
  const externalId = externalIdOf(payload);
  if (typeof externalId !== 'string') return false;
  const name = /^[^ ]*-\d+ (.*)$/s.exec(externalId)?.[1];
  return name === undefined ? names.some((each) => description.startsWith(`${each} at `)) : names.includes(name);
}

/** States in which GitHub shows a deployment as one that serves or will. */
const active: ReadonlySet<string | undefined> = new Set(['success', 'in_progress', 'queued', 'pending', undefined]);

/** So many in a row that are not active: the older ones were retired by earlier runs. */
const enoughRetired = 20;

/** Sets ours that no longer serve to `inactive`; `olderThan`: only those that were made before this one. */
export async function retireDeployments(
  client: GitHubClient,
  of: OwnDeployments,
  { olderThan = Infinity, why, logUrl }: { olderThan?: number | undefined; why: string; logUrl?: string | undefined },
): Promise<void> {
  let retired = 0;
  for await (const { id } of ownDeployments(client, of)) {
    if (id >= olderThan) continue;
    const isActive = active.has((await newestStatus(client, of.repository, id))?.state);
    retired = isActive ? 0 : retired + 1;
    if (retired >= enoughRetired) return;
    if (!isActive) continue;
    const shown = { environment: of.environment, state: 'inactive', description: why, production: false } as const;
    await writeDeploymentStatus(client, of, id, { ...shown, transient: false, ...(logUrl ? { logUrl } : {}) });
  }
}
