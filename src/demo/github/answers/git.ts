import { notFound, pageOf, Refusal, type ApiResponse, type ApiCall, type JsonObject } from '../exchange.ts';
import {
  changedFiles,
  listCommits,
  readCommit,
  resolveCommit,
  type ChangedFile,
  type GitCommit,
  type Person,
  git,
  gitOrUndefined,
  runGit,
} from '../git/commits.ts';
import { nodeId, repositoryFor, repositoryUrl, utc, webUrl, type Repository, type GitHubState } from '../state.ts';

/** GitHub lists at most this many files of a comparison. */
const maxFiles = 300;

const personAnswer = ({ name, email, date }: Person): JsonObject => ({ name, email, date: utc(date) });

/** A commit as branches and comparisons contain it. */
function commitAnswer(state: GitHubState, repository: Repository, commit: GitCommit): JsonObject {
  const api = repositoryUrl(state, repository);
  const web = webUrl(state, repository);
  return {
    sha: commit.sha,
    node_id: nodeId('Commit', commit.sha),
    commit: {
      author: personAnswer(commit.author),
      committer: personAnswer(commit.committer),
      message: commit.message,
      tree: { sha: commit.tree, url: `${api}/git/trees/${commit.tree}` },
      url: `${api}/git/commits/${commit.sha}`,
      comment_count: 0,
      verification: { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null },
    },
    url: `${api}/commits/${commit.sha}`,
    html_url: `${web}/commit/${commit.sha}`,
    comments_url: `${api}/commits/${commit.sha}/comments`,
    author: null,
    committer: null,
    parents: commit.parents.map((sha) => ({ sha, url: `${api}/commits/${sha}`, html_url: `${web}/commit/${sha}` })),
  };
}

const pathInUrl = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** A changed file as comparisons and pull requests list it. */
export function fileAnswer(state: GitHubState, repository: Repository, at: string, file: ChangedFile): JsonObject {
  const path = pathInUrl(file.path);
  const web = webUrl(state, repository);
  return {
    sha: file.blob,
    filename: file.path,
    status: file.status,
    additions: file.additions,
    deletions: file.deletions,
    changes: file.additions + file.deletions,
    blob_url: `${web}/blob/${at}/${path}`,
    raw_url: `${web}/raw/${at}/${path}`,
    contents_url: `${repositoryUrl(state, repository)}/contents/${path}?ref=${at}`,
    ...(file.formerPath === undefined ? {} : { previous_filename: file.formerPath }),
  };
}

export async function getBranch(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  const repository = await repositoryFor(state, call, 'contents', 'read');
  const name = call.params['branch'] ?? '';
  const sha = await resolveCommit(repository.folder, `refs/heads/${name}`);
  if (sha === undefined) throw new Refusal(404, 'Branch not found');
  const self = `${repositoryUrl(state, repository)}/branches/${encodeURIComponent(name)}`;
  const body = {
    name,
    commit: commitAnswer(state, repository, await readCommit(repository.folder, sha)),
    _links: { self, html: `${webUrl(state, repository)}/tree/${name}` },
    protected: false,
    protection: { enabled: false, required_status_checks: { enforcement_level: 'off', contexts: [], checks: [] } },
    protection_url: `${self}/protection`,
  };
  return { status: 200, body };
}

/** A comparison with three dots: the changes from the common ancestor to `head`. */
export async function compare(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  const repository = await repositoryFor(state, call, 'contents', 'read');
  const { folder } = repository;
  const [from = '', to = ''] = (call.params['basehead'] ?? '').split('...');
  const [base, head] = [await resolveCommit(folder, from), await resolveCommit(folder, to)];
  if (base === undefined || head === undefined) throw notFound();
  const fork = await gitOrUndefined(folder, 'merge-base', base, head);
  if (fork === undefined) throw new Refusal(404, `No common ancestor between ${from} and ${to}.`);
  const counts = await git(folder, 'rev-list', '--left-right', '--count', `${base}...${head}`);
  const [behind = 0, ahead = 0] = counts.split('\t').map(Number);
  const commits = await listCommits(folder, '--reverse', `${base}..${head}`);
  const { page, perPage } = pageOf(call.query);
  // The files are all on the first page.
  const files = page > 1 ? [] : await changedFiles(folder, fork, head);
  const answer = async (sha: string) => commitAnswer(state, repository, await readCommit(folder, sha));
  const web = `${webUrl(state, repository)}/compare/${from}...${to}`;
  const body = {
    url: `${repositoryUrl(state, repository)}/compare/${from}...${to}`,
    html_url: web,
    permalink_url: `${webUrl(state, repository)}/compare/${base}...${head}`,
    diff_url: `${web}.diff`,
    patch_url: `${web}.patch`,
    base_commit: await answer(base),
    merge_base_commit: await answer(fork),
    status: ahead > 0 ? (behind > 0 ? 'diverged' : 'ahead') : behind > 0 ? 'behind' : 'identical',
    ahead_by: ahead,
    behind_by: behind,
    total_commits: ahead,
    commits: commits
      .slice((page - 1) * perPage, page * perPage)
      .map((commit) => commitAnswer(state, repository, commit)),
    files: files.slice(0, maxFiles).map((file) => fileAnswer(state, repository, head, file)),
  };
  return { status: 200, body };
}

/** The commit that a call for contents reads: `ref`, or the default branch. */
export async function commitOfContents({ query }: ApiCall, { folder, defaultBranch }: Repository): Promise<string> {
  const ref = query.get('ref') ?? defaultBranch;
  const commit = await resolveCommit(folder, ref);
  if (commit === undefined) throw new Refusal(404, `No commit found for the ref ${ref}`);
  return commit;
}

/** A file of a commit. */
export async function getContents(call: ApiCall, state: GitHubState): Promise<ApiResponse> {
  const repository = await repositoryFor(state, call, 'contents', 'read');
  const commit = await commitOfContents(call, repository);
  const path = call.params['path'] ?? '';
  const sha = await gitOrUndefined(
    repository.folder,
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${commit}:${path}`,
  );
  const { code, stdout } = await runGit(repository.folder, ['cat-file', 'blob', sha ?? '']);
  if (code !== 0) throw notFound();
  const body = {
    ...entryAnswer(state, repository, commit, { type: 'blob', path, sha: sha ?? '', size: stdout.length }),
    encoding: 'base64',
    content: stdout.toString('base64').replace(/.{60}/g, '$&\n'),
  };
  return { status: 200, body };
}

/** A file or a folder without its content. */
export function entryAnswer(
  state: GitHubState,
  repository: Repository,
  commit: string,
  { type, path, sha, size }: { type: 'blob' | 'tree'; path: string; sha: string; size: number },
): JsonObject {
  const encoded = pathInUrl(path);
  const self = `${repositoryUrl(state, repository)}/contents/${encoded}?ref=${commit}`;
  const web = `${webUrl(state, repository)}/${type}/${commit}/${encoded}`;
  const gitUrl = `${repositoryUrl(state, repository)}/git/${type}s/${sha}`;
  return {
    type: type === 'blob' ? 'file' : 'dir',
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    sha,
    size,
    url: self,
    html_url: web,
    git_url: gitUrl,
    download_url: type === 'blob' ? `${webUrl(state, repository)}/raw/${commit}/${encoded}` : null,
    _links: { self, git: gitUrl, html: web },
  };
}
