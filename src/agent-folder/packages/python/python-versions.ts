/** The package of the graph engine in Python. */
export const pythonEngine = 'langgraph';

/** The first version that can run: it introduced contexts and durability modes. */
const minimumVersion = [0, 6] as const;

const manifestFiles = 'in pyproject.toml or requirements.txt, and in a lock file';

/** Why an installed version of the engine can't run, in two sentences; undefined if it can. */
export function pythonEngineProblem(version: string | undefined): string | undefined {
  if (version === undefined)
    return `${pythonEngine} is not among the agent's packages, and its graphs need it. Name it ${manifestFiles}.`;
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined || Number(major) > minimumVersion[0] || Number(minor) >= minimumVersion[1]) return undefined;
  const minimum = minimumVersion.join('.');
  return `${pythonEngine} is ${version}, and agents need ${minimum} or later. Require ${pythonEngine}>=${minimum} ${manifestFiles}: the installer says which packages need an older one.`;
}

/** The version of the engine in a uv.lock; undefined if it has none, or several for different machines. */
export function engineInUvLock(text: string): string | undefined {
  const found = [...text.matchAll(/^name = "langgraph"\nversion = "([^"\n]+)"$/gm)];
  return found.length === 1 ? found[0]?.[1] : undefined;
}

/** The oldest minor version of Python 3 that agents run on, and the default of the public service. */
export const oldestPython = 10;
export const defaultPython = 11;

/** The minor version of Python 3: 11 for `3.11` and `3.11.7`. */
export function minorVersionOf(version: string): number | undefined {
  const [, minor] = /^3\.(\d+)(?:[.\-+a-z]|$)/.exec(version.trim()) ?? [];
  return minor === undefined ? undefined : Number(minor);
}

/** What is wrong with `python_version`, as a sentence that continues the key's name. */
export function pythonVersionProblem(version: string | null | undefined): string | undefined {
  if (!version) return undefined;
  const minor = minorVersionOf(version);
  if (minor === undefined) return 'must be a version such as `3.11`. Correct it';
  return minor < oldestPython ? `must be 3.${oldestPython} or newer. Raise it` : undefined;
}
