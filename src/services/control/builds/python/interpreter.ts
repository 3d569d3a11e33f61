import * as z from 'zod';
import {
  minorVersionOf,
  oldestPython,
  pythonVersionProblem,
  defaultPython,
} from '../../../../agent-folder/packages/python/python-versions.ts';
import { fromJson } from '../../../../kit/json-text.ts';
import { findTools } from '../find-tool.ts';

/** A Python interpreter of this machine that the agent's user can run. */
export interface Interpreter {
  path: string;
  /** `3.11.7` */
  version: string;
  /** Whether it can make environments with pip: some distributions package these modules separately. */
  makesEnvironments: boolean;
  /** The target of its compiled modules. */
  abi: string;
}

export type InterpreterChoice =
  { kind: 'chosen'; interpreter: Interpreter; warning: string | undefined } | { kind: 'none'; reason: string };

/** The newest minor version to look for by its program's name. */
const newestPython = 19;

export interface WantedInterpreter {
  /** `python_version`. */
  wanted?: string | null | undefined;
  /** `requires-python` of the project's manifests. */
  required?: readonly string[];
  needsPip: boolean;
}

/**
 * The best minor version: the one in `python_version`, else the public service's, or a newer one that is required.
 */
export const targetMinor = ({ wanted, required = [] }: Pick<WantedInterpreter, 'wanted' | 'required'>): number =>
  minorVersionOf(wanted ?? '') ?? Math.max(defaultPython, ...required.map(lowestMinor));

/** Chooses the interpreter of the target version, else the nearest one from 3.10 on, the newer of two equally near. */
export function chooseInterpreter(
  found: readonly Interpreter[],
  { wanted, required = [], needsPip }: WantedInterpreter,
): InterpreterChoice {
  const named = wanted ? minorVersionOf(wanted) : undefined;
  const problem = pythonVersionProblem(wanted);
  if (problem !== undefined) return { kind: 'none', reason: `\`python_version\` ${problem}.` };
  const target = targetMinor({ wanted, required });
  const fitting = found.filter(({ version }) => (minorVersionOf(version) ?? 0) >= oldestPython);
  const usable = fitting.filter(({ makesEnvironments }) => makesEnvironments || !needsPip);
  const [withoutVenv] = fitting;
  if (usable.length === 0 && withoutVenv) {
    const name = `python3.${minorVersionOf(withoutVenv.version) ?? defaultPython}`;
    return {
      kind: 'none',
      reason: `Python ${withoutVenv.version} of this machine can't make environments: its modules venv and ensurepip are missing. Install them (${name}-venv on Debian and Ubuntu).`,
    };
  }
  const distance = ({ version }: Interpreter): number => {
    const difference = (minorVersionOf(version) ?? 0) - target;
    return difference >= 0 ? difference * 2 : -difference * 2 + 1;
  };
  const interpreter = usable.toSorted((one, other) => distance(one) - distance(other))[0];
  if (!interpreter) {
    const foundVersions =
      found.length === 0 ? '' : ` (it has ${[...new Set(found.map(({ version }) => version))].join(', ')})`;
    return {
      kind: 'none',
      reason: `Graphs of this agent are in Python, and this machine has no Python 3.${oldestPython} or newer that builds can run${foundVersions}. Install Python 3.${target} with its module venv for all users.`,
    };
  }
  const isOther = named !== undefined && minorVersionOf(interpreter.version) !== named;
  const warning = isOther
    ? `\`python_version\` is 3.${named}, and this machine has no such Python that builds can run: the agent runs on ${interpreter.version}. Install Python 3.${named} for all users of the machine.`
    : undefined;
  return { kind: 'chosen', interpreter, warning };
}

/** The lowest minor version of Python 3 that a `requires-python` such as `>=3.12,<4` admits; 0 where it has none. */
const lowestMinor = (required: string): number => Number(/(?:>=|~=|==|\^)\s*3\.(\d+)/.exec(required)?.[1] ?? 0);

/** The interpreters of a minor version on a search path, by the name that they usually have. */
export const namedInterpreters = (minor: number, path: string): string[] => findTools(`python3.${minor}`, path);

/** The interpreters on a search path, by the names that they usually have. */
export function interpreterPaths(path: string): string[] {
  const versions = Array.from(
    { length: newestPython - oldestPython + 1 },
    (_, index) => `python3.${newestPython - index}`,
  );
  return [...versions, 'python3', 'python'].flatMap((name) => findTools(name, path));
}

/** The prefix of a line that describes an interpreter. */
const lineStart = 'landfall-python ';

const describeScript = `import importlib.util as u, json, platform, sys, sysconfig
print(${JSON.stringify(lineStart)} + json.dumps([sys.executable, platform.python_version(),
    bool(u.find_spec("venv") and u.find_spec("ensurepip")), str(sysconfig.get_config_var("SOABI"))]))`;

/** The arguments of a shell that prints a line for each interpreter that runs. */
export const describeArguments = (paths: readonly string[]): string[] => [
  '-c',
  'describe=$1; shift; for python; do "$python" -I -c "$describe" 2>/dev/null; done; true',
  'sh',
  describeScript,
  ...paths,
];

const interpreterSchema = z.tuple([z.string().startsWith('/'), z.string().max(100), z.boolean(), z.string().max(200)]);

/** The interpreters that the shell's output describes, each once. */
export function parseInterpreters(output: readonly string[]): Interpreter[] {
  const found = new Map<string, Interpreter>();
  for (const line of output) {
    if (!line.startsWith(lineStart)) continue;
    const read = interpreterSchema.safeParse(fromJson(line.slice(lineStart.length))).data;
    if (!read) continue;
    const [path, version, makesEnvironments, abi] = read;
    if (!found.has(path)) found.set(path, { path, version, makesEnvironments, abi });
  }
  return [...found.values()];
}
