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
import { createEntryCheck, partsOf, defaultTarBounds, type TarBounds } from './tar-entries.ts';

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
  // Revoke the token in any case, before any of the source runs.
  const [revoked] = await Promise.allSettled([token === undefined ? undefined : from.endToken?.(token)]);
  if (checkedOut.status === 'rejected') throw checkedOut.reason;
  const commit = checkedOut.value;
  if (!commit.ok) return commit;
  // Throw this last: it must not hide why the clone failed.
  if (revoked.status === 'rejected') throw revoked.reason;
  if (signal.aborted) return stepFailed('');
  await onCommit(commit.value);
  return succeeded({ kind: 'commit', commit: commit.value.sha });
}

/** Unpacks with the timeout of a clone: the size is limited, but the disk may be slow. */
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

interface UnpackContext {
  into: string;
  log: WriteLine;
  warn: RunningBuild['warn'];
  signal: AbortSignal;
  bounds?: TarBounds;
}

/**
 * Unpacks an uploaded tarball (docs/design/contract.md#revision-settings). Reads it twice: first only to check it, so
 * that nothing of a refused archive is written. The reason of an interrupted build is meaningless.
 */
export async function unpackSource(
  { file, digest }: TarballSource,
  { into, log, warn, signal, bounds = defaultTarBounds }: UnpackContext,
): Promise<StepResult<BuiltFrom>> {
  if (!existsSync(file)) return stepFailed('The source tarball was removed from this machine. Upload it again.');
  log('info', `Unpacking the source tarball ${digest}.`);
  const checkEntry = createEntryCheck(bounds);
  let entryProblem: string | undefined;
  let files = 0;
  const checker = new Parser({ strict: true, filter: () => false });
  checker.on('ignoredEntry', (entry: { path: string; type: string; linkpath?: string }) => {
    entryProblem ??= checkEntry(entry);
    files += 1;
  });
  const checked = await readTar(file, checker, { bounds, signal, problem: () => entryProblem });
  if (checked.kind === 'interrupted') return stepFailed('');
  if (checked.kind === 'refused') return stepFailed(refusal(checked.reason));
  if (checked.digest !== digest) {
    return stepFailed(
      `The source tarball on this machine is not the one that was uploaded. Upload it again. It is ${checked.digest} by now, and was ${digest}.`,
    );
  }

  const pointerSized: string[] = [];
  const links: { path: string; target: string }[] = [];
  const unpacker = new Unpack({
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
      const isExecutable = entry.type === 'Directory' || ((entry.mode ?? 0) & 0o100) !== 0;
      if (entry.type === 'File' && mayBePointer(entry.size)) pointerSized.push(join(...partsOf(entry.path)));
      entry.mode = isExecutable ? 0o755 : 0o644;
      return true;
    },
  });
  const unpacked = await readTar(file, unpacker, { bounds, signal, problem: () => undefined });
  if (unpacked.kind === 'interrupted') return stepFailed('');
  if (unpacked.kind === 'refused') return stepFailed(refusal(unpacked.reason));
  warnOfFilesNotUploaded(into, pointerSized, warn);
  // Links are created last: no file can be written through one.
  for (const { path, target } of links) {
    await mkdir(dirname(path), { recursive: true });
    await symlink(target, path);
  }
  log('info', `Unpacked ${files} ${files === 1 ? 'entry' : 'entries'}.`);
  return succeeded({ kind: 'tarball', digest });
}

const refusal = (reason: string): string =>
  `The source tarball can't be unpacked. ${reason} Make it anew, as a gzipped tar of the source's files alone, and upload it again.`;
