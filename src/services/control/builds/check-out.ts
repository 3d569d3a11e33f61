import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRepoRef } from '../../../contract/control/repo-ref.ts';
import { readRepoUrl } from '../deployments/validation/repo-url.ts';
import { realPath, staysAllowed } from './allowed-repository.ts';
import { stepFailed, succeeded, type Commit, type GitSource, type StepResult } from './build.ts';
import type { RunningBuild } from './running-build.ts';
import { emptySource } from './build-folder.ts';
import { commitSize } from './commit-size.ts';
import { isDiskFullMessage } from './free-space.ts';
import {
  explainFetch,
  gitConfig,
  gitVariables,
  knownExplanation,
  refToFetch,
  tokenVariables,
  type GitProtocol,
  isFileTooLargeMessage,
} from './git-settings.ts';
import { removeLeftovers, fetchInto, mirrorFolder, openMirror, type RunGit, type FetchRequest } from './mirror.ts';
import { warnOfMissingFiles } from './missing-files.ts';
import { removeTree } from './remove-tree.ts';
import { runInFolderQueue } from './folder-queue.ts';
import { withoutControls } from '../../../kit/plain-text.ts';

interface Remote {
  address: string;
  protocol: GitProtocol;
}

/** Validates a `repo_url` again before its use, with the real path of a folder, which must be below an allowed one. */
export function remoteOf(repoUrl: string, allowGit: readonly string[]): StepResult<Remote> {
  const read = readRepoUrl(repoUrl, allowGit);
  if (!read.ok) return stepFailed(read.problem);
  if (read.kind === 'network') {
    return succeeded({ address: read.url, protocol: new URL(read.url).protocol === 'https:' ? 'https' : 'http' });
  }
  const path = realPath(read.path);
  if (path === undefined)
    return stepFailed(`There is no folder ${read.path} on this machine. Check source_config.repo_url.`);
  const allowed = allowGit.flatMap((folder) => realPath(folder) ?? []);
  if (!staysAllowed(path, allowed)) {
    return stepFailed(`${read.path} leads out of the folders that the service allows (--allow-git DIR).`);
  }
  return succeeded({ address: path, protocol: 'file' });
}

/**
 * Checks out the commit of a revision, without history, tags and submodules, as a copy from the repository's mirror.
 * Returns the commit. The reason of an interrupted build is meaningless.
 */
export async function checkOut(source: GitSource, running: RunningBuild): Promise<StepResult<Commit>> {
  const { repoUrl, repoRef, commit } = source;
  const { folder, dataDir, request, allowGit, run, warn, signal } = running;
  const { log } = request;
  const remote = remoteOf(repoUrl, allowGit);
  if (!remote.ok) return remote;
  const ref = repoRef === undefined ? undefined : readRepoRef(repoRef);
  if (ref && !ref.ok) return stepFailed(`source_revision_config.repo_ref: ${ref.problem}.`);
  const refText = commit ? `commit ${commit}` : ref ? `ref ${refToFetch(ref.ref)}` : 'default branch';
  log('info', `Cloning ${repoUrl}, ${refText}.`);

  writeFileSync(join(folder.root, 'gitconfig'), gitConfig);
  const { address } = remote.value;
  const mirror = mirrorFolder(dataDir, request, address);
  const fetchRequest = { address, ref: commit ?? refToFetch(ref?.ref), isCommit: commit !== undefined };
  const tryOnce = (): Promise<Attempt> =>
    checkOutThroughMirror(mirror, fetchRequest, remote.value, { repoUrl, refText }, running);
  const end = await runInFolderQueue(mirror, signal, async () => {
    const first = await tryOnce();
    if (first.kind !== 'damaged' || signal.aborted) return first;
    log('warning', `The mirror of ${repoUrl} on this machine is damaged (${first.reason}); creating it again.`);
    await removeTree(mirror);
    await emptySource(folder);
    return tryOnce();
  });
  if (end === undefined) return stepFailed('');
  if (end.kind !== 'checked out') return stepFailed(end.reason);
  log('info', `Checked out commit ${end.commit.sha}.`);
  const checkoutSettings = { cwd: folder.source, env: gitVariables(join(folder.root, 'gitconfig'), 'file') };
  await warnOfMissingFiles(
    end.commit.sha,
    (spec) => run({ ...spec, ...checkoutSettings, silent: true, asService: true }),
    warn,
  );
  return succeeded(end.commit);
}

/** The outcome of an attempt: `damaged` where a new mirror may help. */
type Attempt = { kind: 'checked out'; commit: Commit } | { kind: 'refused' | 'damaged'; reason: string };

async function checkOutThroughMirror(
  mirror: string,
  fetchRequest: FetchRequest,
  { address, protocol }: Remote,
  requested: { repoUrl: string; refText: string },
  { folder, token, bounds, run, signal }: RunningBuild,
): Promise<Attempt> {
  const configFile = join(folder.root, 'gitconfig');
  const env = { ...gitVariables(configFile, protocol), GIT_DIR: mirror };
  const runGit: RunGit = (args, { silent = false, remote = false } = {}) => {
    const variables = { ...env, ...(remote ? tokenVariables(address, token) : {}) };
    const [command = '', ...rest] = [...(remote ? limitFileSize(bounds.fetchedBytes) : []), 'git', ...args];
    return run({ command, args: rest, cwd: mirror, env: variables, silent, asService: true });
  };

  const opened = await openMirror(mirror, runGit);
  if (!opened.ok) return refused(`git init failed: ${opened.reason}.`);
  const fetched = await fetchInto(fetchRequest, runGit);
  if (fetched.kind !== 'fetched') await removeLeftovers(mirror);
  if (fetched.kind === 'interrupted') return refused('');
  const mayBeDamaged = (printed: string, isLate: boolean): boolean =>
    opened.value === 'existing' && !signal.aborted && !isLate && !isDiskFullMessage(printed);
  if (fetched.kind === 'refused') {
    const { output, reason, isLate, isNoCommit } = fetched;
    if (isNoCommit) return refused(`The ${requested.refText} of ${requested.repoUrl} is no commit.`);
    if (isFileTooLargeMessage(output)) {
      return refused(
        `${requested.refText} of ${requested.repoUrl} is too large: git fetches at most ${bounds.fetchedBytes} bytes. Remove from the repository what the agent does not need, then deploy again.`,
      );
    }
    // A message that names the remote is about the remote; any other may be about a damaged mirror.
    const isKnown = knownExplanation(output, requested) !== undefined && !output.includes(mirror);
    if (!isKnown && mayBeDamaged(output, isLate)) return { kind: 'damaged', reason: reason };
    return refused(`${explainFetch(output, requested)} (git: ${reason})`);
  }
  const { commit } = fetched;
  const size = await commitSize(commit, (spec) => run({ ...spec, cwd: mirror, env, silent: true, asService: true }));
  if (size.kind === 'exceeds') return refused(size.reason);
  const end =
    size.kind !== 'done'
      ? size
      : await run({
          command: '/bin/sh',
          args: ['-c', copyCommitScript, 'sh', mirror, commit],
          cwd: folder.source,
          env: gitVariables(configFile, 'file'),
          asService: true,
        });
  if (end.kind === 'interrupted') return refused('');
  if (end.kind === 'failed') {
    const reason = `Commit ${commit} could not be checked out: ${end.cause ?? end.reason}`;
    return { kind: mayBeDamaged(end.output.join('\n'), end.isLate) ? 'damaged' : 'refused', reason };
  }
  return { kind: 'checked out', commit: await readCommit(commit, runGit) };
}

/** Limits the size of a command's files, in POSIX blocks. The signal is ignored so that git prints the error. */
const limitFileSize = (bytes: number): string[] => [
  '/bin/sh',
  '-c',
  'trap "" XFSZ && ulimit -f "$1" && shift && exec "$@"',
  'sh',
  String(Math.ceil(bytes / 512)),
];

/** Copies the commit `$2` from the mirror `$1` into the build's own repository, and checks it out. */
const copyCommitScript = [
  'git init --quiet --template= .',
  'git fetch --depth 1 --no-tags --no-recurse-submodules --no-progress --quiet -- "$1" "$2"',
  'git checkout --quiet --force --detach "$2"',
].join(' && ');

const refused = (reason: string): Attempt => ({ kind: 'refused', reason });

const maxDetailLength = 300;

const detailFields = { author: '%an', date: '%aI', subject: '%s' } as const;

/** Reads the details of a commit in a mirror. They are only shown: unreadable ones are null. */
async function readCommit(sha: string, runGit: RunGit): Promise<Commit> {
  const format = Object.entries(detailFields).map(([name, placeholder]) => `landfall-${name} ${placeholder}`);
  const options = ['--max-count=1', '--no-show-signature', '--encoding=UTF-8', `--format=${format.join('%n')}`];
  const end = await runGit(['log', ...options, sha, '--'], { silent: true });
  const lines = end.kind === 'done' ? end.output : [];
  // The output may include warnings of git.
  const fieldOf = (name: keyof typeof detailFields): string | null => {
    const start = `landfall-${name} `;
    const line = lines.find((each) => each.startsWith(start))?.slice(start.length) ?? '';
    return withoutControls(line).slice(0, maxDetailLength).toWellFormed().trim() || null;
  };
  return { sha, subject: fieldOf('subject'), author: fieldOf('author'), authoredAt: timeOf(fieldOf('date')) };
}

/** Parses a commit's time; null where Postgres or JSON could not hold it, because a commit may name any time. */
function timeOf(text: string | null): Date | null {
  const time = new Date(text ?? Number.NaN);
  const year = time.getUTCFullYear();
  return year >= 1970 && year <= 9999 ? time : null;
}
