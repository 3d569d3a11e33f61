import { commitOfContents, entryAnswer, getContents } from '../../../src/demo/github/answers/git.ts';
import { gitOrUndefined } from '../../../src/demo/github/git/commits.ts';
import { repositoryFor, type Handler } from '../../../src/demo/github/state.ts';

/** A file or a folder of a commit. */
export const getFileOrFolder: Handler = async (call, state) => {
  const repository = await repositoryFor(state, call, 'contents', 'read');
  const commit = await commitOfContents(call, repository);
  const folder = call.params['path'] ?? '';
  const printed = await gitOrUndefined(repository.folder, 'ls-tree', '-z', '--long', `${commit}:${folder}`);
  if (printed === undefined) return getContents(call, state);
  const entries = printed.split('\0').filter(Boolean);
  const body = entries.map((line) => {
    const tab = line.indexOf('\t');
    const [, kind, sha = '', size] = line.slice(0, tab).split(/\s+/);
    const path = `${folder}/${line.slice(tab + 1)}`;
    const type = kind === 'tree' ? 'tree' : 'blob';
    return entryAnswer(state, repository, commit, { type, path, sha, size: Number(size) || 0 });
  });
  return { status: 200, body };
};
