import { trimStartOf, withoutTrailingSlashes } from '../../../contract/plain-text.ts';
import { resolveCommit } from '../git/commits.ts';
import { runGit } from '../git/run-git.ts';
import { notFound, Refusal, type Answer, type ApiCall, type JsonObject } from '../exchange.ts';
import { demand, repositoryFor, repositoryUrl, webUrl, type Site } from '../site.ts';
import type { Repository } from '../repositories.ts';

/** Bytes of a file that are still answered in JSON, and at all. */
const mostInJson = 1024 * 1024;
const mostBytes = 100 * 1024 * 1024;

interface Entry {
  mode: string;
  type: string;
  sha: string;
  size: number;
  path: string;
}

/** A file, a folder, a link or a submodule of a commit, as GitHub answers each. */
export async function getContents(call: ApiCall, site: Site): Promise<Answer> {
  const { params, query, who, headers } = call;
  const repository = repositoryFor(site, params, who);
  demand(who, repository, 'contents', 'read');
  const ref = query.get('ref') ?? repository.defaultBranch;
  const commit = await resolveCommit(repository.folder, ref);
  if (commit === undefined) throw new Refusal(404, `No commit found for the ref ${ref}`);
  const path = withoutTrailingSlashes(trimStartOf(params['path'] ?? '', '/'));
  const entry = path === '' ? undefined : (await entriesOf(repository, commit, path, false))[0];
  if (path !== '' && !entry) throw notFound();
  const show = (each: Entry): JsonObject => describe(site, repository, ref, each);
  if (!entry || entry.type === 'tree') {
    const inside = await entriesOf(repository, commit, path === '' ? '' : `${path}/`, true);
    return { status: 200, body: inside.map((each) => ({ ...show(each), type: listedType(each) })) };
  }
  if (entry.type === 'commit')
    return { status: 200, body: { ...show(entry), type: 'submodule', submodule_git_url: null } };
  if (entry.size > mostBytes) throw new Refusal(403, 'This API returns blobs up to 100 MB in size.');
  const { stdout } = await runGit(repository.folder, ['cat-file', 'blob', entry.sha]);
  if (/application\/vnd\.github(\.v3)?\.raw/.test(headers['accept'] ?? '')) {
    return { status: 200, body: stdout, headers: { 'content-type': 'application/vnd.github.raw+json; charset=utf-8' } };
  }
  if (entry.mode === '120000')
    return { status: 200, body: { ...show(entry), type: 'symlink', target: stdout.toString() } };
  const isSmall = entry.size <= mostInJson;
  const content = isSmall ? stdout.toString('base64').replace(/.{60}/g, '$&\n') : '';
  return { status: 200, body: { ...show(entry), type: 'file', encoding: isSmall ? 'base64' : 'none', content } };
}

const listedType = ({ type, mode }: Entry): string =>
  type === 'tree' ? 'dir' : mode === '120000' ? 'symlink' : type === 'commit' ? 'submodule' : 'file';

async function entriesOf(repository: Repository, commit: string, path: string, isFolder: boolean): Promise<Entry[]> {
  const { stdout } = await runGit(repository.folder, [
    '--literal-pathspecs',
    'ls-tree',
    '-z',
    '--long',
    '--full-tree',
    commit,
    ...(path === '' ? [] : ['--', path]),
  ]);
  const entries = stdout
    .toString()
    .split('\0')
    .filter(Boolean)
    .map((line): Entry => {
      const tab = line.indexOf('\t');
      const [mode = '', type = '', sha = '', size = ''] = line.slice(0, tab).split(/\s+/);
      return { mode, type, sha, size: Number(size) || 0, path: line.slice(tab + 1) };
    });
  return isFolder ? entries : entries.filter((entry) => entry.path === path);
}

function describe(site: Site, repository: Repository, ref: string, { path, sha, size, type }: Entry): JsonObject {
  const encoded = path.split('/').map(encodeURIComponent).join('/');
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
