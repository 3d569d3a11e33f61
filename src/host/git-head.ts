import { execFile } from 'node:child_process';
import { isTagRef } from '../contract/control/repo-ref.ts';
import { didYouMean } from '../kit/diagnostics/did-you-mean.ts';
import { sameRepository } from '../deploy/file/repository-url.ts';

/** The head of a ref according to git, or that the ref does not exist, or one clause about why it is unknown. */
export type GitHead =
  | { kind: 'known'; sha: string }
  | { kind: 'absent'; ref: string; /** A ref of the repository that is spelled nearly so. */ near: string | undefined }
  | { kind: 'unknown'; why: string };

/** Runs git and returns its output; undefined if it failed or is not installed. */
export type Git = (args: readonly string[]) => Promise<string | undefined>;

/**
 * Reads the head of `repoRef` from the repository itself: that is what the service will build, whatever is checked out
 * here. It does so only if this checkout has the repository as its `origin`, or is the folder that `repoUrl` names, so
 * that an address in a file can't make git connect anywhere.
 */
export async function headOf({ repoUrl, repoRef }: { repoUrl: string; repoRef: string }, git: Git): Promise<GitHead> {
  const top = (await git(['rev-parse', '--show-toplevel']))?.trim();
  if (!top) return { kind: 'unknown', why: 'the working directory is no git checkout' };
  const origin = (await git(['remote', 'get-url', 'origin']))?.trim();
  const remote =
    origin !== undefined && sameRepository(origin, repoUrl) ? 'origin' : sameRepository(top, repoUrl) ? top : undefined;
  if (remote === undefined) return { kind: 'unknown', why: 'this checkout is of another repository' };
  const full = isTagRef(repoRef) ? repoRef : `refs/heads/${repoRef}`;
  const listed = await git(['ls-remote', '--quiet', remote, full, `${full}^{}`]);
  if (listed === undefined) return { kind: 'unknown', why: 'git could not ask the repository' };
  const refs = refsOf(listed);
  // An annotated tag is an object of its own; behind it stands the commit.
  const sha = refs.get(`${full}^{}`) ?? refs.get(full);
  if (sha) return { kind: 'known', sha };
  const kind = isTagRef(repoRef) ? '--tags' : '--heads';
  const others = [...refsOf((await git(['ls-remote', '--quiet', kind, remote])) ?? '').keys()];
  const names = others.map((ref) => ref.replace(/^refs\/heads\//, ''));
  return { kind: 'absent', ref: full, near: didYouMean(repoRef, names) };
}

const refsOf = (listed: string): Map<string, string> =>
  new Map(
    listed.split('\n').flatMap((line): [string, string][] => {
      const [sha = '', ref] = line.split('\t');
      return ref === undefined ? [] : [[ref.trim(), sha]];
    }),
  );

/** How long git may take to answer (ms). */
const gitWithinMs = 15_000;

/** Git in the working directory, without password prompts. */
export const git: Git = (args) =>
  new Promise((resolve) => {
    const env = { ...process.env, GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
    const child = execFile('git', [...args], { env, timeout: gitWithinMs, encoding: 'utf8' }, (error, stdout) =>
      resolve(error ? undefined : stdout),
    );
    child.stdin?.end();
  });
