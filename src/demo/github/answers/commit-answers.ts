import type { GitCommit, Person } from '../git/commits.ts';
import type { ChangedFile } from '../git/changes.ts';
import type { JsonObject } from '../exchange.ts';
import { nodeId, repositoryUrl, webUrl, type Site } from '../site.ts';
import { fullNameOf, type Repository } from '../repositories.ts';

const unsigned = { verified: false, reason: 'unsigned', signature: null, payload: null, verified_at: null };

/** An instant as GitHub spells it, whatever offset it was committed with. */
const utc = (date: string): string => new Date(date).toISOString().replace(/\.\d{3}Z$/, 'Z');

const personOf = ({ name, email, date }: Person): JsonObject => ({ name, email, date: utc(date) });

/** The person whose no-reply address wrote a commit, where there is one. */
export function loginOf(site: Site, { email }: Pick<Person, 'email'>): string | undefined {
  const name = /^(?:\d+\+)?([^@+]+)@users\.noreply\.github\.com$/.exec(email)?.[1];
  return name !== undefined && site.people.has(name) ? name : undefined;
}

/** A commit as `/commits/{ref}` and the lists show it, without statistics. */
export function commitAnswer(site: Site, repository: Repository, commit: GitCommit): JsonObject {
  const api = repositoryUrl(site, repository);
  const web = webUrl(site, repository);
  return {
    sha: commit.sha,
    node_id: nodeId('Commit', commit.sha),
    commit: {
      author: personOf(commit.author),
      committer: personOf(commit.committer),
      message: commit.message,
      tree: { sha: commit.tree, url: `${api}/git/trees/${commit.tree}` },
      url: `${api}/git/commits/${commit.sha}`,
      comment_count: 0,
      verification: unsigned,
    },
    url: `${api}/commits/${commit.sha}`,
    html_url: `${web}/commit/${commit.sha}`,
    comments_url: `${api}/commits/${commit.sha}/comments`,
    author: null,
    committer: null,
    parents: parentsOf(commit, `${api}/commits`, web),
  };
}

/** A commit as `/git/commits/{sha}` shows it. */
export function gitCommitAnswer(site: Site, repository: Repository, commit: GitCommit): JsonObject {
  const api = repositoryUrl(site, repository);
  const web = webUrl(site, repository);
  return {
    sha: commit.sha,
    node_id: nodeId('Commit', commit.sha),
    url: `${api}/git/commits/${commit.sha}`,
    html_url: `${web}/commit/${commit.sha}`,
    author: personOf(commit.author),
    committer: personOf(commit.committer),
    tree: { sha: commit.tree, url: `${api}/git/trees/${commit.tree}` },
    message: commit.message,
    parents: parentsOf(commit, `${api}/git/commits`, web),
    verification: unsigned,
  };
}

const parentsOf = ({ parents }: GitCommit, api: string, web: string): JsonObject[] =>
  parents.map((sha) => ({ sha, url: `${api}/${sha}`, html_url: `${web}/commit/${sha}` }));

/** A commit as check suites, merge groups and pushes name it. */
export const simpleCommit = ({ sha, tree, message, author, committer }: GitCommit): JsonObject => ({
  id: sha,
  tree_id: tree,
  message,
  timestamp: utc(committer.date),
  author: { name: author.name, email: author.email },
  committer: { name: committer.name, email: committer.email },
});

/** A changed file as commits, comparisons and pull requests list it. */
export function fileAnswer(site: Site, repository: Repository, at: string, file: ChangedFile): JsonObject {
  const path = file.path.split('/').map(encodeURIComponent).join('/');
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
    contents_url: `${site.url}/repos/${fullNameOf(repository)}/contents/${path}?ref=${at}`,
    ...(file.formerPath === undefined ? {} : { previous_filename: file.formerPath }),
    ...(file.patch === undefined ? {} : { patch: file.patch }),
  };
}
