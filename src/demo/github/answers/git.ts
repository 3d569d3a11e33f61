import { notFound, pageOf, Refusal, type Answer, type ApiCall, type JsonObject } from '../exchange.ts';
import {
  changedFiles,
  listCommits,
  readOne,
  resolveCommit,
  type ChangedFile,
  type GitCommit,
  type Person,
  git,
  gitOr,
  runGit,
} from '../git/commits.ts';
import type { Repository } from '../repositories.ts';
import { demand, nodeId, repositoryFor, repositoryUrl, utc, webUrl, type Site } from '../site.ts';

/** GitHub lists no more of a comparison. */
const mostFiles = 300;

function readable(site: Site, { params, who }: ApiCall): Repository {
  const repository = repositoryFor(site, params, who);
  demand(who, repository, 'contents', 'read');
  return repository;
}

const personAnswer = ({ name, email, date }: Person): JsonObject => ({ name, email, date: utc(date) });

/** A commit as branches and comparisons show it. */
function commitAnswer(site: Site, repository: Repository, commit: GitCommit): JsonObject {
  const api = repositoryUrl(site, repository);
  const web = webUrl(site, repository);
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
export function fileAnswer(site: Site, repository: Repository, at: string, file: ChangedFile): JsonObject {
  const path = pathInUrl(file.path);
  const web = webUrl(site, repository);
  return {
    sha: file.blob,
    filename: file.path,
    status: file.status,
    additions: file.additions,
    deletions: file.deletions,
    changes: file.additions + file.deletions,
    blob_url: `${web}/blob/${at}/${path}`,
    raw_url: `${web}/raw/${at}/${path}`,
    contents_url: `${repositoryUrl(site, repository)}/contents/${path}?ref=${at}`,
    ...(file.formerPath === undefined ? {} : { previous_filename: file.formerPath }),
    ...(file.patch === undefined ? {} : { patch: file.patch }),
  };
}

export async function getBranch(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const name = call.params['branch'] ?? '';
  const sha = await resolveCommit(repository.folder, `refs/heads/${name}`);
  if (sha === undefined) throw new Refusal(404, 'Branch not found');
  const self = `${repositoryUrl(site, repository)}/branches/${encodeURIComponent(name)}`;
  const body = {
    name,
    commit: commitAnswer(site, repository, await readOne(repository.folder, sha)),
    _links: { self, html: `${webUrl(site, repository)}/tree/${name}` },
    protected: false,
    protection: { enabled: false, required_status_checks: { enforcement_level: 'off', contexts: [], checks: [] } },
    protection_url: `${self}/protection`,
  };
  return { status: 200, body };
}

/** Three dots: what `head` has that its common ancestor with `base` has not. */
export async function compare(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const { folder } = repository;
  const [from = '', to = ''] = (call.params['basehead'] ?? '').split('...');
  const [base, head] = [await resolveCommit(folder, from), await resolveCommit(folder, to)];
  if (base === undefined || head === undefined) throw notFound();
  const fork = await gitOr(folder, 'merge-base', base, head);
  if (fork === undefined) throw new Refusal(404, `No common ancestor between ${from} and ${to}.`);
  const counts = await git(folder, 'rev-list', '--left-right', '--count', `${base}...${head}`);
  const [behind = 0, ahead = 0] = counts.split('\t').map(Number);
  const commits = await listCommits(folder, '--reverse', `${base}..${head}`);
  const { page, perPage } = pageOf(call.query);
  // The files are all on the first page.
  const files = page > 1 ? [] : await changedFiles(folder, fork, head);
  const answer = async (sha: string) => commitAnswer(site, repository, await readOne(folder, sha));
  const web = `${webUrl(site, repository)}/compare/${from}...${to}`;
  const body = {
    url: `${repositoryUrl(site, repository)}/compare/${from}...${to}`,
    html_url: web,
    permalink_url: `${webUrl(site, repository)}/compare/${base}...${head}`,
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
      .map((commit) => commitAnswer(site, repository, commit)),
    files: files.slice(0, mostFiles).map((file) => fileAnswer(site, repository, head, file)),
  };
  return { status: 200, body };
}

/** Bytes of a file that are still answered in JSON. */
const mostInJson = 1024 * 1024;

interface Entry {
  type: string;
  sha: string;
  size: number;
  path: string;
}

/** A file or a folder of a commit. */
export async function getContents(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const ref = call.query.get('ref') ?? repository.defaultBranch;
  const commit = await resolveCommit(repository.folder, ref);
  if (commit === undefined) throw new Refusal(404, `No commit found for the ref ${ref}`);
  const path = call.params['path'] ?? '';
  const show = (each: Entry): JsonObject => entryAnswer(site, repository, ref, each);
  const entry = (await entriesOf(repository, commit, path)).find((each) => each.path === path);
  if (!entry) throw notFound();
  if (entry.type === 'tree') {
    const inside = await entriesOf(repository, commit, `${path}/`);
    return {
      status: 200,
      body: inside.map((each) => ({ ...show(each), type: each.type === 'tree' ? 'dir' : 'file' })),
    };
  }
  const { stdout } = await runGit(repository.folder, ['cat-file', 'blob', entry.sha]);
  const isSmall = entry.size <= mostInJson;
  const content = isSmall ? stdout.toString('base64').replace(/.{60}/g, '$&\n') : '';
  return { status: 200, body: { ...show(entry), type: 'file', encoding: isSmall ? 'base64' : 'none', content } };
}

async function entriesOf({ folder }: Repository, commit: string, path: string): Promise<Entry[]> {
  const printed = await git(
    folder,
    '--literal-pathspecs',
    'ls-tree',
    '-z',
    '--long',
    '--full-tree',
    commit,
    '--',
    path,
  );
  return printed
    .split('\0')
    .filter(Boolean)
    .map((line) => {
      const tab = line.indexOf('\t');
      const [, type = '', sha = '', size = ''] = line.slice(0, tab).split(/\s+/);
      return { type, sha, size: Number(size) || 0, path: line.slice(tab + 1) };
    });
}

function entryAnswer(site: Site, repository: Repository, ref: string, { path, sha, size, type }: Entry): JsonObject {
  const encoded = pathInUrl(path);
  const self = `${repositoryUrl(site, repository)}/contents/${encoded}?ref=${encodeURIComponent(ref)}`;
  const kind = type === 'tree' ? 'tree' : 'blob';
  const web = `${webUrl(site, repository)}/${kind}/${ref}/${encoded}`;
  const gitUrl = `${repositoryUrl(site, repository)}/git/${kind}s/${sha}`;
  return {
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    sha,
    size,
    url: self,
    html_url: web,
    git_url: gitUrl,
    download_url: type === 'blob' ? `${webUrl(site, repository)}/raw/${ref}/${encoded}` : null,
    _links: { self, git: gitUrl, html: web },
  };
}
