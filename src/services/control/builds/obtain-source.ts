import { withTimeout } from '../../../kit/clock.ts';
import type { WriteLine } from '../compute/log-line.ts';
import { stepFailed, succeeded, type BuiltFrom, type StepResult, type TarballSource } from './build.ts';
import type { RunningBuild } from './running-build.ts';
import { checkOut } from './check-out.ts';
import { findTool } from './find-tool.ts';
import { mayBePointer, warnOfFilesNotUploaded } from './missing-files.ts';
import { existsSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Parser, ReadEntry, Unpack } from 'tar';
import { readTar } from './tar-bytes.ts';
import { entryJudge, partsOf, usualTarBounds, type TarBounds } from './tar-entries.ts';

/** Fetches the source into its folder: checks a commit out, or unpacks a tarball. */
export async function obtainSource(running: RunningBuild): Promise<StepResult<BuiltFrom>> {
  const { request, env, token, signal } = running;
  const { from, onCommit } = request;
  if (from.kind === 'tarball') return unpackInTime(from, running);
  if (!findTool('git', env.PATH ?? '')) {
    return stepFailed(
      'git is not installed on this machine, so no repository can be cloned. Install git and deploy again.',
    );
  }
  const [checkedOut] = await Promise.allSettled([checkOut(from, running)]);
  // In any case, before any of the source runs.
  const [ended] = await Promise.allSettled([token === undefined ? undefined : from.endToken?.(token)]);
  if (checkedOut.status === 'rejected') throw checkedOut.reason;
  const commit = checkedOut.value;
  if (!commit.ok) return commit;
  // Only now: it must not hide why the clone failed.
  if (ended.status === 'rejected') throw ended.reason;
  if (signal.aborted) return stepFailed('');
  await onCommit(commit.value);
  return succeeded({ kind: 'commit', commit: commit.value.sha });
}

/** Unpacks with the timeout of a clone: a tarball is limited in size, but a disk may be slow. */
function unpackInTime(from: TarballSource, running: RunningBuild): Promise<StepResult<BuiltFrom>> {
  const { request, folder, bounds, clock, warn, signal } = running;
  const unpack = async (bound: AbortSignal): Promise<StepResult<BuiltFrom>> => {
    const unpacked = await unpackSource(from, { into: folder.source, log: request.log, warn, signal: bound });
    if (unpacked.ok || signal.aborted || !bound.aborted) return unpacked;
    const seconds = bounds.cloneMs / 1_000;
    return stepFailed(`The source tarball can't be unpacked: it took longer than ${seconds} s and was stopped.`);
  };
  return withTimeout(clock, bounds.cloneMs, unpack, signal);
}

interface Unpacking {
  into: string;
  log: WriteLine;
  warn: RunningBuild['warn'];
  signal: AbortSignal;
  bounds?: TarBounds;
}

/**
 * Unpacks an uploaded tarball (docs/design/contract.md#revision-settings). It reads it twice: the first time only to
 * check it, so that nothing of a refused archive is ever written. The reason of an interrupted build is meaningless.
 */
export async function unpackSource(
  { file, digest }: TarballSource,
  { into, log, warn, signal, bounds = usualTarBounds }: Unpacking,
): Promise<StepResult<BuiltFrom>> {
  if (!existsSync(file)) return stepFailed('The source tarball was removed from this machine. Upload it again.');
  log('info', `Unpacking the source tarball ${digest}.`);
  const judge = entryJudge(bounds);
  let against: string | undefined;
  let files = 0;
  const looking = new Parser({ strict: true, filter: () => false });
  looking.on('ignoredEntry', (entry: { path: string; type: string; linkpath?: string }) => {
    against ??= judge(entry);
    files += 1;
  });
  const looked = await readTar(file, looking, { bounds, signal, problem: () => against });
  if (looked.kind === 'interrupted') return stepFailed('');
  if (looked.kind === 'refused') return stepFailed(refusal(looked.why));
  if (looked.digest !== digest) {
    return stepFailed(
      `The source tarball on this machine is not the one that was uploaded. Upload it again. It is ${looked.digest} by now, and was ${digest}.`,
    );
  }

  const small: string[] = [];
  const links: { path: string; target: string }[] = [];
  const writing = new Unpack({
    cwd: into,
    strict: true,
    keep: true,
    noMtime: true,
    preserveOwner: false,
    // Keeps only the executable bit of a file's mode.
    filter: (_path, entry) => {
      if (!(entry instanceof ReadEntry)) return true;
      if (entry.type === 'SymbolicLink') {
        links.push({ path: join(into, ...partsOf(entry.path)), target: entry.linkpath ?? '' });
        return false;
      }
      const runs = entry.type === 'Directory' || ((entry.mode ?? 0) & 0o100) !== 0;
      if (entry.type === 'File' && mayBePointer(entry.size)) small.push(join(...partsOf(entry.path)));
      entry.mode = runs ? 0o755 : 0o644;
      return true;
    },
  });
  const written = await readTar(file, writing, { bounds, signal, problem: () => undefined });
  if (written.kind === 'interrupted') return stepFailed('');
  if (written.kind === 'refused') return stepFailed(refusal(written.why));
  warnOfFilesNotUploaded(into, small, warn);
  // Links are created last: no file can be written through one.
  for (const { path, target } of links) {
    await mkdir(dirname(path), { recursive: true });
    await symlink(target, path);
  }
  log('info', `Unpacked ${files} ${files === 1 ? 'entry' : 'entries'}.`);
  return succeeded({ kind: 'tarball', digest });
}

const refusal = (why: string): string =>
  `The source tarball can't be unpacked. ${why} Make it anew, as a gzipped tar of the source's files alone, and upload it again.`;
