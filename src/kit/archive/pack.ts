import { createHash } from 'node:crypto';
import { basename } from 'node:path/posix';
import type { Tarball } from './tarball.ts';
import { didYouMean } from '../diagnostics/did-you-mean.ts';
import type { Problem } from '../diagnostics/problem.ts';
import {
  type Listing,
  listSource,
  problemAt,
  readFailure,
  sizeInWords,
  type SourceLimits,
  usualLimits,
} from './walk.ts';
import { gzipTar, SourceChanged } from './tar-bytes.ts';

interface PackRequest {
  /** Path of the folder, from the working directory. */
  folder: string;
  /** Where the graph configuration has to lie, from the root of the folder; absent: it is not looked for. */
  graphConfigPath?: string | undefined;
  limits?: SourceLimits | undefined;
  /** Paths of files that are not packed, from the working directory. */
  except?: readonly string[] | undefined;
  signal?: AbortSignal | undefined;
}

/** A folder that was read through once: its digest and size are known, and its bytes can be had again. */
export interface PackedSource extends Tarball {
  /** As it was given. */
  folder: string;
  /** Files and links. */
  files: number;
  unpackedBytes: number;
  /** What stayed out by our own rules. */
  leftOut: readonly string[];
}

/** A packed folder, or everything that is wrong with it. */
export type PackResult = { ok: true; source: PackedSource } | { ok: false; problems: Problem[] };

/**
 * Makes a folder into a gzip tar whose bytes depend only on what it holds. The folder is read for digest and size, and
 * again for every reading of the bytes. Rejects only with the signal's reason.
 */
export async function packSource(request: PackRequest): Promise<PackResult> {
  const { folder, graphConfigPath, limits = usualLimits, signal, except } = request;
  const listing = await listSource(folder, limits, signal, except);
  const problems = [...listing.problems, ...graphConfigProblems(folder, graphConfigPath, listing)];
  if (problems.length > 0) return { ok: false, problems };
  const { entries, unpackedBytes, leftOut } = listing;
  if (entries.length === 0)
    return { ok: false, problems: [problemAt(folder, '', 'this folder holds nothing to pack')] };
  const read = () => gzipTar(folder, entries);
  const measured = await measure(read(), folder, limits, signal);
  if (!measured.ok) return measured;
  const { size, digest } = measured;
  return { ok: true, source: { folder, files: entries.length, unpackedBytes, leftOut, size, digest, read } };
}

type Measurement = { ok: true; size: number; digest: string } | { ok: false; problems: Problem[] };

async function measure(
  source: AsyncIterable<Uint8Array>,
  folder: string,
  { packedBytes }: SourceLimits,
  signal: AbortSignal | undefined,
): Promise<Measurement> {
  const hash = createHash('sha256');
  let size = 0;
  const wrong = (path: string, message: string): Measurement => ({
    ok: false,
    problems: [problemAt(folder, path, message)],
  });
  try {
    for await (const bytes of source) {
      signal?.throwIfAborted();
      size += bytes.length;
      if (size > packedBytes)
        return wrong('', `packed it has more than ${sizeInWords(packedBytes)}, which no service takes`);
      hash.update(bytes);
    }
  } catch (error) {
    if (signal?.aborted) throw error;
    return error instanceof SourceChanged
      ? wrong(error.path, 'it was changed while the folder was packed: run this again')
      : wrong('', readFailure(error));
  }
  return { ok: true, size, digest: `sha256:${hash.digest('hex')}` };
}

/** A build without its graph configuration fails at the service; here it is reported before anything is sent. */
function graphConfigProblems(folder: string, path: string | undefined, { entries, ignored, problems }: Listing) {
  if (path === undefined || problems.some(({ file }) => file === problemAt(folder, '', '').file)) return [];
  const wanted = path.replace(/^(\.\/)+/, '');
  if (entries.some((entry) => entry.path === wanted)) return [];
  const parts = wanted.split('/');
  const isIgnored = parts.some((_, index) => ignored.has(parts.slice(0, index + 1).join('/')));
  if (isIgnored)
    return [problemAt(folder, wanted, 'this graph configuration is left out by an ignore file or by default')];
  const paths = entries.map((entry) => entry.path);
  const near = didYouMean(wanted, paths) ?? paths.find((each) => basename(each) === basename(wanted));
  const problem = problemAt(folder, wanted, 'this graph configuration is not in the folder that is uploaded');
  return [near === undefined ? problem : { ...problem, suggestion: near }];
}
