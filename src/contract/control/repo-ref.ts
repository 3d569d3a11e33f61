/** A parsed ref, or why it is invalid and what to write instead. */
export type ReadRepoRef = { ok: true; ref: string } | { ok: false; problem: string; suggestion?: string };

const tagPrefix = 'refs/tags/';

/** True for a tag: tags are never built on push (docs/design/contract.md#deployment-settings: `build_on_push`). */
export const isTagRef = (ref: string): boolean => ref.startsWith(tagPrefix);

/**
 * Converts a branch or tag to the specification's spelling: a branch is its plain name, a tag its full `refs/tags/...`
 * (docs/design/contract.md#revision-settings: `repo_ref`).
 */
export function readRepoRef(written: string): ReadRepoRef {
  const ref = written.trim();
  if (ref.startsWith('refs/heads/')) return checkRefName(ref.slice('refs/heads/'.length));
  if (ref.startsWith(tagPrefix)) return checkRefName(ref);
  if (ref.startsWith('refs/')) {
    const branch = /^refs\/remotes\/[^/]+\/(.+)$/.exec(ref)?.[1];
    return {
      ok: false,
      problem: `${ref} is neither a branch nor a tag`,
      ...(branch ? { suggestion: branch } : {}),
    };
  }
  if (/^[0-9a-f]{40}$/i.test(ref)) {
    return { ok: false, problem: `${ref} is a commit; the service builds the head of a branch or a tag` };
  }
  return checkRefName(ref);
}

/**
 * Like `readRepoRef`, for a ref written by a person: refuses git's short forms, although a branch may have such a name.
 */
export function readWrittenRef(written: string): ReadRepoRef {
  const ref = written.trim();
  const [, prefix, name] = /^(heads|tags|remotes\/[^/]+|origin)\/(.+)$/.exec(ref) ?? [];
  if (prefix === undefined || name === undefined) return readRepoRef(ref);
  return {
    ok: false,
    problem: `${ref} is ambiguous: write a branch as its plain name or refs/heads/<name>, and a tag as ${tagPrefix}<name>`,
    suggestion: prefix === 'tags' ? `${tagPrefix}${name}` : name,
  };
}

/** Checks the rules of git for ref names. */
function checkRefName(ref: string): ReadRepoRef {
  const isInvalid =
    ref === '' ||
    ref === '@' ||
    /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|^-|\.$|(^|\/)\.|\.lock(\/|$)/.test(ref) ||
    ref === tagPrefix;
  return isInvalid
    ? { ok: false, problem: `${JSON.stringify(ref)} is not a name that git allows for a ref` }
    : { ok: true, ref };
}

/** Whether two commits are equal: ignores case, and accepts an abbreviated SHA. */
export function sameCommit(one: string | null | undefined, other: string | null | undefined): boolean {
  if (!one || !other) return false;
  const [short = '', long = ''] = [one.toLowerCase(), other.toLowerCase()].toSorted((a, b) => a.length - b.length);
  return short.length >= 7 && long.startsWith(short);
}

/** The short form of a commit's SHA. */
export const shortCommit = (sha: string): string => sha.slice(0, 7);
