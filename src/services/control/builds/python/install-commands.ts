import { join } from 'node:path';
import type { PythonInstall } from '../../../../agent-folder/packages/python/python-plan.ts';
import type { CommandSpec } from '../run-command.ts';

/** The absolute paths of an installation. */
export interface InstallPaths {
  /** The root of the agent's source, and the folder of its graph configuration. */
  source: string;
  configFolder: string;
  /** The interpreter that creates the environment. */
  interpreter: string;
  /** The environment's own folder. */
  environment: string;
  /** The program uv; absent where pip installs. */
  uv: string | undefined;
  /** A file with the versions that an earlier installation of the same build chose. */
  constraints: string | undefined;
}

/** A command of an installation; `name` is the command as people would type it. */
export interface NamedCommand extends CommandSpec {
  name: string;
}

/** The interpreter of an environment. */
export const interpreterIn = (environment: string): string => join(environment, 'bin', 'python');

/**
 * The commands that create an environment and install a plan's packages into it. Packages of the source itself are
 * installed editable: the agent's code stays in its checkout, and the environment contains only other packages.
 */
export function installCommands(plan: PythonInstall, places: InstallPaths): NamedCommand[] {
  const { source, configFolder, interpreter, environment, uv } = places;
  const env = plan.pipConfig === undefined ? {} : { PIP_CONFIG_FILE: join(source, plan.pipConfig) };
  const cwd = configFolder;
  const wanted = wantedPackages(plan, places);
  if (uv === undefined) {
    const python = interpreterIn(environment);
    return [
      { name: 'python -m venv', command: interpreter, args: ['-I', '-m', 'venv', '--clear', environment], cwd },
      {
        name: `pip install ${wanted.shown.join(' ')}`,
        command: python,
        args: ['-I', '-m', 'pip', 'install', ...wanted.args],
        cwd,
        env,
      },
    ];
  }
  const locked = plan.locked;
  const packageArgs = locked?.package === undefined ? [] : ['--package', locked.package];
  const sync = ['sync', '--frozen', '--no-dev', ...packageArgs];
  const first: NamedCommand =
    locked === undefined
      ? { name: 'uv venv', command: uv, args: ['venv', '--no-project', '--python', interpreter, environment], cwd }
      : {
          name: ['uv', ...sync].join(' '),
          command: uv,
          args: [...sync, '--compile-bytecode', '--python', interpreter],
          cwd: join(source, locked.folder),
          env: { UV_PROJECT_ENVIRONMENT: environment },
        };
  if (wanted.args.length === 0) return [first];
  const into = ['--compile-bytecode', '--python', interpreterIn(environment)];
  const install = { command: uv, args: ['pip', 'install', ...into, ...wanted.args], cwd, env };
  return [first, { name: `uv pip install ${wanted.shown.join(' ')}`, ...install }];
}

/** The packages to install as arguments of pip and uv, and the same with relative paths for people. */
function wantedPackages({ requirements, projects, packages }: PythonInstall, { source, constraints }: InstallPaths) {
  const args = [
    ...requirements.flatMap((file) => ['-r', join(source, file)]),
    ...projects.flatMap((folder) => ['-e', join(source, folder)]),
    ...packages,
  ];
  const shownArgs = [
    ...requirements.flatMap((file) => ['-r', file]),
    ...projects.flatMap((folder) => ['-e', folder === '' ? '.' : folder]),
    ...packages,
  ];
  const constraintArgs = constraints === undefined || args.length === 0 ? [] : ['-c', constraints];
  return { args: [...constraintArgs, ...args], shown: shownArgs };
}
