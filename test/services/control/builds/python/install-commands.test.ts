import { expect, test } from 'vitest';
import type { PythonInstall } from '../../../../../src/agent-folder/packages/python/python-plan.ts';
import {
  installCommands,
  type InstallPaths,
} from '../../../../../src/services/control/builds/python/install-commands.ts';

const plan: PythonInstall = {
  kind: 'install',
  installer: 'either',
  locked: undefined,
  projects: [],
  moduleFolders: [],
  requirements: [],
  packages: [],
  pipConfig: undefined,
  isLocked: false,
  reason: '',
  warnings: [],
};
const places: InstallPaths = {
  source: '/src',
  configFolder: '/src/app',
  interpreter: '/usr/bin/python3.11',
  environment: '/env',
  uv: undefined,
  constraints: undefined,
};

/** Each command in one line, with its folder and what it adds to the environment. */
const linesOf = (changed: Partial<PythonInstall>, where: Partial<InstallPaths> = {}): string[] =>
  installCommands({ ...plan, ...changed }, { ...places, ...where }).map(({ command, args, cwd, env = {} }) =>
    [`${cwd}$`, ...Object.entries(env).map((each) => each.join('=')), command, ...args].join(' '),
  );

const all = { requirements: ['a/requirements.txt'], projects: ['', 'lib'], packages: ['langgraph>=1'] };

test.each<[string, string[], string[]]>([
  [
    'pip installs everything at once, packages of the source editable',
    linesOf(all),
    [
      '/src/app$ /usr/bin/python3.11 -I -m venv --clear /env',
      '/src/app$ /env/bin/python -I -m pip install -r /src/a/requirements.txt -e /src -e /src/lib langgraph>=1',
    ],
  ],
  [
    "with the project's configuration, and the versions of an earlier build",
    linesOf({ packages: ['a'], pipConfig: 'pip.conf' }, { constraints: '/tmp/c.txt' }),
    [
      '/src/app$ /usr/bin/python3.11 -I -m venv --clear /env',
      '/src/app$ PIP_CONFIG_FILE=/src/pip.conf /env/bin/python -I -m pip install -c /tmp/c.txt a',
    ],
  ],
  [
    'uv installs the same',
    linesOf(all, { uv: '/bin/uv' }),
    [
      '/src/app$ /bin/uv venv --no-project --python /usr/bin/python3.11 /env',
      '/src/app$ /bin/uv pip install --compile-bytecode --python /env/bin/python -r /src/a/requirements.txt -e /src -e /src/lib langgraph>=1',
    ],
  ],
  [
    'uv installs what its lock file names, and more',
    linesOf({ locked: { folder: 'app', package: undefined, isRequired: false }, packages: ['a'] }, { uv: '/bin/uv' }),
    [
      '/src/app$ UV_PROJECT_ENVIRONMENT=/env /bin/uv sync --frozen --no-dev --compile-bytecode --python /usr/bin/python3.11',
      '/src/app$ /bin/uv pip install --compile-bytecode --python /env/bin/python a',
    ],
  ],
  [
    'uv installs one member of a workspace',
    linesOf(
      { locked: { folder: '', package: 'agent', isRequired: true } },
      { uv: '/bin/uv', constraints: '/tmp/c.txt' },
    ),
    [
      '/src$ UV_PROJECT_ENVIRONMENT=/env /bin/uv sync --frozen --no-dev --package agent --compile-bytecode --python /usr/bin/python3.11',
    ],
  ],
])('%s', (_, lines, expected) => expect(lines).toEqual(expected));

test('a command is named as a person would type it', () => {
  expect(installCommands({ ...plan, ...all }, places).map(({ name }) => name)).toEqual([
    'python -m venv',
    'pip install -r a/requirements.txt -e . -e lib langgraph>=1',
  ]);
});
