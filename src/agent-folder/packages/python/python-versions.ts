/** The package of the graph engine in Python. */
export const pythonEngine = 'langgraph';

/** The first version that can run: it brought contexts and durability modes. */
const needed = [0, 6] as const;

const whereToSay = 'in pyproject.toml or requirements.txt, and in a lock file';

/** Why an installed version of the engine can't run, in two sentences; undefined for one that can. */
export function pythonEngineProblem(version: string | undefined): string | undefined {
  if (version === undefined)
    return `${pythonEngine} is not among the agent's packages, and its graphs need it. Name it ${whereToSay}.`;
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined || Number(major) > needed[0] || Number(minor) >= needed[1]) return undefined;
  const least = needed.join('.');
  return `${pythonEngine} is ${version}, and agents need ${least} or later. Require ${pythonEngine}>=${least} ${whereToSay}: the installer says which packages need an older one.`;
}

/** The version of the engine in a uv.lock; undefined if it has none, or several for different machines. */
export function engineInUvLock(text: string): string | undefined {
  const found = [...text.matchAll(/^name = "langgraph"\nversion = "([^"\n]+)"$/gm)];
  return found.length === 1 ? found[0]?.[1] : undefined;
}

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
