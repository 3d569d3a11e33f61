import { pause, type Clock } from '../../clock.ts';
import type { WriteLine } from '../compute/log-line.ts';
import type { BuildFolder } from './build-folder.ts';
import { cannot, made } from './build.ts';
import type { BuildRequest, BuiltFrom, GitSource, Part, TarballSource } from './build.ts';
import { checkOut, type CheckOutSettings } from './check-out.ts';
import { findTool } from './find-tool.ts';
import type { BeginPart } from './run-command.ts';
import { unpackSource } from './unpack-source.ts';

/** The tools for fetching a build's source. */
export interface Obtaining {
  folder: BuildFolder;
  dataDir: string;
  allowGit: readonly string[];
  beginPart: BeginPart;
  /** The search path of the build. */
  path: string;
  /** The timeout in milliseconds. */
  withinMs: number;
  clock: Clock;
  signal: AbortSignal;
  token: string | undefined;
  /** Bytes of a pack that git may fetch. */
  fetchedBytes: number;
}

/** Fetches the source into its folder: checks a commit out, or unpacks a tarball. */
export async function obtainSource(request: BuildRequest, obtaining: Obtaining): Promise<Part<BuiltFrom>> {
  const { from, log, onCommit } = request;
  const { path, signal, beginPart, withinMs } = obtaining;
  if (from.kind === 'tarball') return unpackInTime(from, obtaining, log);
  if (!findTool('git', path)) {
    return cannot(
      'git is not installed on this machine, so no repository can be cloned. Install git and deploy again.',
    );
  }
  const commit = await checkOutAndEndToken(from, { ...obtaining, run: beginPart(withinMs), owner: request, log });
  if (!commit.ok || signal.aborted) return commit.ok ? cannot('') : commit;
  await onCommit(commit.value);
  return made({ kind: 'commit', commit: commit.value });
}

/** Unpacks with the timeout of a clone: a tarball is limited in size, but a disk may be slow. */
async function unpackInTime(
  from: TarballSource,
  { folder, withinMs, clock, signal }: Obtaining,
  log: WriteLine,
): Promise<Part<BuiltFrom>> {
  const [done, late] = [new AbortController(), new AbortController()];
  void pause(clock, withinMs, done.signal).then(() => late.abort());
  try {
    const within = { into: folder.source, log, signal: AbortSignal.any([signal, late.signal]) };
    const unpacked = await unpackSource(from, within);
    if (unpacked.ok || signal.aborted || !late.signal.aborted) return unpacked;
    return cannot(`The source tarball can't be unpacked: it took longer than ${withinMs / 1_000} s and was stopped.`);
  } finally {
    done.abort();
  }
}

/** Checks out, and revokes the token before any of the source runs. */
async function checkOutAndEndToken(from: GitSource, settings: CheckOutSettings): Promise<Part<string>> {
  try {
    return await checkOut(from, settings);
  } finally {
    if (settings.token !== undefined) await from.endToken?.(settings.token);
  }
}
