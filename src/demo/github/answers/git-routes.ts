import { changedFiles } from '../git/changes.ts';
import { emptyTree, listCommits, readOne, readRefs, resolveCommit } from '../git/commits.ts';
import { git, gitOr } from '../git/run-git.ts';
import { notFound, Refusal, type Answer, type ApiCall } from '../exchange.ts';
import { paged, pageOf } from '../page.ts';
import { demand, nodeId, repositoryFor, repositoryUrl, webUrl, type Site } from '../site.ts';
import type { Repository } from '../repositories.ts';
import { commitAnswer, fileAnswer, gitCommitAnswer } from './commit-answers.ts';

/** GitHub lists no more of a comparison. */
const mostFiles = 300;
const mostCommits = 250;

function readable(site: Site, { params, who }: ApiCall): Repository {
  const repository = repositoryFor(site, params, who);
  demand(who, repository, 'contents', 'read');
  return repository;
}

/** The commit of a ref; 422 as GitHub says it where there is none. */
export async function commitOf(repository: Repository, ref: string): Promise<string> {
  const sha = await resolveCommit(repository.folder, ref);
  if (sha === undefined) throw new Refusal(422, `No commit found for SHA: ${ref}`);
  return sha;
}

const refAnswer = (site: Site, repository: Repository, ref: string, sha: string, type: string) => ({
  ref,
  node_id: nodeId('Ref', ref),
  url: `${repositoryUrl(site, repository)}/git/${ref}`,
  object: { sha, type, url: `${repositoryUrl(site, repository)}/git/${type}s/${sha}` },
});

export async function getRef(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const ref = `refs/${call.params['ref'] ?? ''}`;
  const sha = (await readRefs(repository.folder, ['refs'])).get(ref);
  if (sha === undefined) throw notFound();
  const type = await git(repository.folder, 'cat-file', '-t', sha);
  return { status: 200, body: refAnswer(site, repository, ref, sha, type) };
}

export async function matchingRefs(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const begin = `refs/${call.params['ref'] ?? ''}`;
  const refs = [...(await readRefs(repository.folder))].filter(([ref]) => ref.startsWith(begin));
  const body: unknown[] = [];
  for (const [ref, sha] of refs) {
    body.push(refAnswer(site, repository, ref, sha, await git(repository.folder, 'cat-file', '-t', sha)));
  }
  return { status: 200, body };
}

export async function getGitCommit(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const sha = call.params['commit_sha'] ?? '';
  if ((await gitOr(repository.folder, 'cat-file', '-t', sha)) !== 'commit') throw notFound();
  return { status: 200, body: gitCommitAnswer(site, repository, await readOne(repository.folder, sha)) };
}

export async function listBranches(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const branches = [...(await readRefs(repository.folder, ['refs/heads']))].map(([ref, sha]) => ({
    name: ref.slice('refs/heads/'.length),
    commit: { sha, url: `${repositoryUrl(site, repository)}/commits/${sha}` },
    protected: false,
  }));
  return paged(call, site.url, branches);
}

export async function getBranch(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const name = call.params['branch'] ?? '';
  const sha = (await readRefs(repository.folder, ['refs/heads'])).get(`refs/heads/${name}`);
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

export async function listOfCommits(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const sha = await resolveCommit(repository.folder, call.query.get('sha') ?? repository.defaultBranch);
  if (sha === undefined) throw notFound();
  const path = call.query.get('path');
  const commits = await listCommits(repository.folder, sha, ...(path === null ? [] : ['--', path]));
  const answers = commits.map((commit) => commitAnswer(site, repository, commit));
  return paged(call, site.url, answers);
}

export async function getCommit(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const sha = await commitOf(repository, call.params['ref'] ?? '');
  const commit = await readOne(repository.folder, sha);
  const files = await changedFiles(repository.folder, commit.parents[0] ?? emptyTree, sha);
  const sum = (of: 'additions' | 'deletions'): number => files.reduce((total, file) => total + file[of], 0);
  const [additions, deletions] = [sum('additions'), sum('deletions')];
  const body = {
    ...commitAnswer(site, repository, commit),
    stats: { additions, deletions, total: additions + deletions },
    files: files.slice(0, mostFiles).map((file) => fileAnswer(site, repository, sha, file)),
  };
  return { status: 200, body };
}

/** Three dots: what `head` has that its common ancestor with `base` has not. */
export async function compare(call: ApiCall, site: Site): Promise<Answer> {
  const repository = readable(site, call);
  const { folder } = repository;
  const [from = '', to = ''] = (call.params['basehead'] ?? '').split('...');
  const [base, head] = [await resolveCommit(folder, ownPart(from)), await resolveCommit(folder, ownPart(to))];
  if (base === undefined || head === undefined) throw notFound();
  const fork = await gitOr(folder, 'merge-base', base, head);
  if (fork === undefined) throw new Refusal(404, `No common ancestor between ${from} and ${to}.`);
  const [behind = 0, ahead = 0] = (await git(folder, 'rev-list', '--left-right', '--count', `${base}...${head}`))
    .split('\t')
    .map(Number);
  const commits = await listCommits(folder, '--reverse', `${base}..${head}`);
  const { page, perPage } = pageOf(call.query);
  const isPaged = call.query.has('page') || call.query.has('per_page');
  const shown = isPaged ? commits.slice((page - 1) * perPage, page * perPage) : commits.slice(0, mostCommits);
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
    commits: shown.map((commit) => commitAnswer(site, repository, commit)),
    files: files.slice(0, mostFiles).map((file) => fileAnswer(site, repository, head, file)),
  };
  return { status: 200, body };
}

/** `owner:branch` names a fork's branch too; commits of forks lie in the repository as far as pull requests brought them. */
const ownPart = (ref: string): string => ref.slice(ref.indexOf(':') + 1);
