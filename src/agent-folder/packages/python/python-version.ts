/** The oldest minor version of Python 3 that agents run on, and the one that the public service takes where none is named. */
export const oldestPython = 10;
export const usualPython = 11;

/** The minor version of a version of Python 3: 11 of `3.11` and `3.11.7`. */
export function minorOf(version: string): number | undefined {
  const [, minor] = /^3\.(\d+)(?:[.\-+a-z]|$)/.exec(version.trim()) ?? [];
  return minor === undefined ? undefined : Number(minor);
}

/** Why `python_version` can't be carried out: goes on from its name. */
export function pythonVersionProblem(version: string | null | undefined): string | undefined {
  if (!version) return undefined;
  const minor = minorOf(version);
  if (minor === undefined) return 'must be a version such as `3.11`. Correct it';
  return minor < oldestPython ? `must be 3.${oldestPython} or newer. Raise it` : undefined;
}
