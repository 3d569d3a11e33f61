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
