import type { Permission } from '../../src/deploy/commands/outcomes.ts';
import type { Logger } from '../../src/kit/logger.ts';
import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import { type GitHubClient, paginate } from '../../src/github/client.ts';
import {
  type InstallationRepository,
  type Comparison,
  FileTooLarge,
  type GitHubApi,
  GitHubApiError,
  type Head,
  InstallationPaused,
  type PullRequestKey,
  RepositoryLost,
} from './github-api.ts';
import { unlessMissing } from './failure.ts';
import type { AppRoute, ClientOf, RateLimitedClient } from './installation-clients.ts';
import type { Requester } from './rate-limiter.ts';
import { readChecks, readRequiredChecks } from './commit-checks.ts';
import { readCommitPeople, readMembership, readProtection } from './environments.ts';
import { commitCheckName } from '../reconcile/report.ts';
import type { RepositoryClient } from '../recovery/recover.ts';
import { commentTopic, createAuthorReader, readPullRequest } from './pull-requests.ts';
import { writeCheck } from '../../src/github/check.ts';
import { writeComment } from '../../src/github/comment.ts';
import { createDeployment, writeDeploymentStatus } from '../../src/github/deployment.ts';

type Client = GitHubClient<AppRoute>;

/** GitHub lists at most this many files of a comparison, so a list of this length may be incomplete. */
const maxComparedFiles = 300;

/** The largest file that is read (bytes). */
const fileLimitBytes = 1_000_000;

/** The newest commit of a branch; undefined if there is no such branch. */
async function readHead(
  client: Client,
  { owner, name }: InstallationRepository,
  branch: string,
): Promise<Head | undefined> {
  const found = await unlessMissing(
    client.request('GET /repos/{owner}/{repo}/branches/{branch}', { owner, repo: name, branch }),
  );
  // GitHub redirects a renamed branch to the new one, which is another branch.
  if (found === undefined || found.data.name !== branch) return undefined;
  const { sha, commit } = found.data.commit;
  const committedAt = Date.parse(commit.committer?.date ?? commit.author?.date ?? '');
  return { sha, message: commit.message, committedAt: Number.isNaN(committedAt) ? 0 : committedAt };
}

/** Compares two commits. `unavailable` unless `base` is an ancestor of `head` and the list is complete. */
async function readComparison(
  client: Client,
  { owner, name }: InstallationRepository,
  base: string,
  head: string,
): Promise<Comparison> {
  if (sameCommit(base, head)) return { kind: 'identical' };
  const found = await unlessMissing(
    client.request('GET /repos/{owner}/{repo}/compare/{basehead}', {
      owner,
      repo: name,
      basehead: `${base}...${head}`,
      // The first page contains all files; the commits are not needed.
      per_page: 1,
      page: 1,
    }),
  );
  if (found === undefined) return { kind: 'unavailable', why: 'GitHub does not know one of the two commits' };
  const { status, files } = found.data;
  if (status === 'identical') return { kind: 'identical' };
  if (status === 'behind')
    return { kind: 'unavailable', why: 'the branch went back to an older commit', contains: false };
  if (status !== 'ahead') return { kind: 'unavailable', why: 'the branch was rewritten', contains: false };
  if (files === undefined) return { kind: 'unavailable', why: 'GitHub lists no files', contains: true };
  if (files.length >= maxComparedFiles)
    return { kind: 'unavailable', why: `${maxComparedFiles} files or more changed`, contains: true };
  const paths = files.flatMap(({ filename, previous_filename: former }) => (former ? [filename, former] : [filename]));
  return { kind: 'ahead', paths };
}

/** A text file at a commit or branch; undefined if there is none. */
async function readFile(
  client: Client,
  { owner, name }: InstallationRepository,
  path: string,
  ref: string,
): Promise<string | undefined> {
  const found = await unlessMissing(
    client.request('GET /repos/{owner}/{repo}/contents/{path}', { owner, repo: name, path, ref }),
  );
  if (found === undefined) return undefined;
  const { data } = found;
  // A folder is a list; a submodule is not a file of this repository.
  if (Array.isArray(data) || data.type !== 'file' || !('content' in data)) return undefined;
  // GitHub omits the text above 1 MB, so a large file is never loaded.
  if (data.size > fileLimitBytes || data.encoding !== 'base64') {
    throw new FileTooLarge(path, `${owner}/${name} at ${ref}`, data.size, fileLimitBytes);
  }
  return Buffer.from(data.content, 'base64').toString('utf8');
}

const permissions: ReadonlySet<string> = new Set(['admin', 'write', 'read', 'none'] satisfies Permission[]);
const isPermission = (text: string): text is Permission => permissions.has(text);

/** A person's permission; `none` for anyone who is not a collaborator, and for unknown values. */
async function readPermission(
  client: Client,
  { owner, name }: InstallationRepository,
  login: string,
  userId: number | undefined,
): Promise<Permission> {
  const found = await unlessMissing(
    client.request('GET /repos/{owner}/{repo}/collaborators/{username}/permission', {
      owner,
      repo: name,
      username: login,
    }),
  );
  if (userId !== undefined && Number(found?.data.user?.id) !== userId) return 'none';
  const word = found?.data.permission ?? 'none';
  return isPermission(word) ? word : 'none';
}

/** GitHub lists at most this many files of a pull request. */
export const maxListedFiles = 3000;

/** Every path that a pull request changes, and previous names of renamed files; undefined if the list is incomplete. */
export async function changedPaths(
  client: GitHubClient<AppRoute>,
  { repository: { owner, name: repo }, number }: PullRequestKey,
): Promise<readonly string[] | undefined> {
  const paths: string[] = [];
  let listed = 0;
  const place = { owner, repo, pull_number: number };
  const files = paginate(
    async (page) =>
      (await client.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/files', { ...place, ...page })).data,
  );
  for await (const { filename, previous_filename: former } of files) {
    paths.push(filename, ...(former ? [former] : []));
    listed += 1;
    if (listed >= maxListedFiles) return undefined;
  }
  return paths;
}

/** Lists the repositories of all installations, one page at a time. `log` receives those that cannot be read now. */
export function createRepositoryClient(
  clientOf: (installationId: number | undefined) => GitHubClient<AppRoute>,
  log: Logger,
): RepositoryClient {
  return {
    async *repositories() {
      for await (const installationId of installationIds(clientOf(undefined))) {
        try {
          yield* repositoriesOf(clientOf(installationId), installationId);
        } catch (error) {
          if (!(error instanceof GitHubApiError) && !(error instanceof InstallationPaused)) throw error;
          log.warn(`The repositories of installation ${installationId} could not be listed: ${error.message}`);
        }
      }
    },
  };
}

async function* installationIds(app: GitHubClient<AppRoute>): AsyncGenerator<number> {
  const installations = paginate(async (page) => (await app.request('GET /app/installations', page)).data);
  for await (const { id, suspended_at: suspendedAt } of installations) if (!suspendedAt) yield id;
}

async function* repositoriesOf(
  client: GitHubClient<AppRoute>,
  installationId: number,
): AsyncGenerator<InstallationRepository> {
  const repositories = paginate(
    async (page) => (await client.request('GET /installation/repositories', page)).data.repositories,
  );
  for await (const { id, name, owner } of repositories) {
    yield { installationId, repositoryId: Number(id), owner: owner.login, name };
  }
}

/** Creates the App's GitHub API. @param clientOf returns the client of an installation: `createInstallationClients`. */
export function createGitHubApi(clientOf: ClientOf): GitHubApi {
  /** Deployments whose last status may have been written, although there was no response. */
  const uncertainDeployments = new Set<number>();
  const ownAuthor = createAuthorReader(clientOf);
  const clientFor = ({ installationId }: InstallationRepository): RateLimitedClient => clientOf(installationId);
  const writeClientFor = (
    { installationId }: InstallationRepository,
    kind: 'change' | 'make',
    requester: Requester = 'own',
  ): RateLimitedClient => {
    const client = clientOf(installationId, requester);
    client.expectTurn(kind);
    return client;
  };

  return {
    head: (repository, branch) => readHead(clientFor(repository), repository, branch),
    compare: (repository, base, head) => readComparison(clientFor(repository), repository, base, head),
    file: (repository, path, ref) => readFile(clientFor(repository), repository, path, ref),
    permissionOf: (repository, login, userId) => {
      // Anyone can comment, and is looked up by both names then.
      const client = clientOf(repository.installationId, userId === undefined ? 'own' : 'strangers');
      return readPermission(client, repository, login, userId);
    },
    pullRequest: (at) => readPullRequest(clientFor(at.repository), at),
    checksOf: (repository, commit) => readChecks(clientFor(repository), repository, commit),
    requiredChecks: (repository, branch) => readRequiredChecks(clientFor(repository), repository, branch),
    environmentProtection: (repository, environment, branch) =>
      readProtection(clientFor(repository), repository, environment, branch),
    membershipOf: (repository, team, login) => readMembership(clientFor(repository), team, login),
    peopleOf: (repository, commit) => readCommitPeople(clientFor(repository), repository, commit),
    defaultBranch: async (repository) => {
      const { owner, name } = repository;
      try {
        const { data } = await clientFor(repository).request('GET /repos/{owner}/{repo}', { owner, repo: name });
        return data.default_branch;
      } catch (error) {
        if (!(error instanceof GitHubApiError) || error.status !== 404) throw error;
        throw new RepositoryLost(`${owner}/${name}`, error);
      }
    },

    writeCheck: async (place, id, content) => {
      // Strangers cause such checks: each head of a pull request gets one.
      const requester = place.name === commitCheckName ? 'strangers' : 'own';
      return writeCheck(
        writeClientFor(place.repository, id === undefined ? 'make' : 'change', requester),
        place,
        id,
        content,
      );
    },
    makeDeployment: async (place, content) => {
      const made = await createDeployment(writeClientFor(place.repository, 'make'), place, content);
      if (made.kind === 'made') return made.id;
      const { owner, name } = place.repository;
      const message = `GitHub made no deployment of ${owner}/${name} at ${place.commit} (${made.status}): ${made.reason}`;
      throw new GitHubApiError(message, made.status, 'none');
    },
    writeDeploymentStatus: async (place, id, content) => {
      const checkFirst = uncertainDeployments.delete(id);
      try {
        await writeDeploymentStatus(clientFor(place.repository), place, id, content, { checkFirst });
      } catch (error) {
        if (checkFirst || (error instanceof GitHubApiError && error.effect === 'unknown')) uncertainDeployments.add(id);
        throw error;
      }
    },
    writeComment: async ({ repository, number }, id, body) => {
      // Strangers cause such comments: refusals are answered, too.
      const client = writeClientFor(repository, id === undefined ? 'make' : 'change', 'strangers');
      const at = { repository, pullRequest: number, topic: commentTopic };
      return writeComment(client, at, await ownAuthor(), body, id);
    },
    react: async ({ installationId, owner, name: repo }, commentId, content) => {
      const reaction = { owner, repo, comment_id: commentId, content };
      const client = clientOf(installationId, 'strangers');
      await client.request('POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', reaction);
    },
  };
}
