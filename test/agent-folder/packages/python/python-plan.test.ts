import { describe, expect, test } from 'vitest';
import {
  planPython,
  withoutUv,
  type PythonInstall,
  type PythonKeys,
} from '../../../../src/agent-folder/packages/python/python-plan.ts';
import type { PythonSource } from '../../../../src/agent-folder/packages/python/python-project.ts';

/** A source with files, whose graph configuration is in `folder`. */
function sourceOf(files: readonly string[] | Record<string, string>, folder = ''): PythonSource {
  const texts = new Map(Array.isArray(files) ? files.map((file: string) => [file, '']) : Object.entries(files));
  return {
    folder,
    entriesIn(path) {
      const start = path === '' ? '' : `${path}/`;
      const below = [...texts.keys()].filter((file) => file.startsWith(start));
      return below.length === 0
        ? undefined
        : new Set(below.map((file) => file.slice(start.length).split('/')[0] ?? ''));
    },
    textOf: (path) => texts.get(path),
  };
}

const planned = (keys: PythonKeys, source: PythonSource): PythonInstall => {
  const plan = planPython(keys, source);
  if (plan.kind === 'refused') throw new Error(`${plan.path.join('.')} ${plan.message}`);
  return plan;
};

describe('what is installed', () => {
  test.each<[string, PythonKeys, PythonSource, Partial<PythonInstall>]>([
    [
      'the project itself, where nothing is named',
      {},
      sourceOf(['langgraph.json', 'pyproject.toml']),
      { installer: 'either', projects: [''], locked: undefined, isLocked: false, reason: 'the project' },
    ],
    [
      'a project in a folder of its own',
      { dependencies: ['./'] },
      sourceOf(['agents/one/setup.py', 'agents/one/langgraph.json'], 'agents/one'),
      { projects: ['agents/one'] },
    ],
    [
      'a neighbouring package, and one of the index',
      { dependencies: ['.', '../shared', 'langchain-openai>=0.3', 'git+https://host.example/a/b.git'] },
      sourceOf(['a/pyproject.toml', 'shared/pyproject.toml'], 'a'),
      { projects: ['a', 'shared'], packages: ['langchain-openai>=0.3', 'git+https://host.example/a/b.git'] },
    ],
    [
      'the requirements of a folder without a manifest, which is only found',
      { dependencies: ['./my_agent'] },
      sourceOf({ 'my_agent/requirements.txt': 'langgraph\n', 'my_agent/agent.py': '' }),
      { projects: [], moduleFolders: ['my_agent'], requirements: ['my_agent/requirements.txt'], isLocked: false },
    ],
    [
      'a folder with neither, beside a package',
      { dependencies: ['.', 'langgraph'] },
      sourceOf(['agent.py']),
      { projects: [], moduleFolders: [''], requirements: [], packages: ['langgraph'] },
    ],
    [
      'a requirements file and a manifest that are named themselves',
      { dependencies: ['requirements.txt', 'pyproject.toml'] },
      sourceOf(['requirements.txt', 'pyproject.toml']),
      { projects: [''], requirements: ['requirements.txt'] },
    ],
    [
      'a folder without a leading dot, beside a package of the same name as another folder',
      { dependencies: ['packages/agents', 'langgraph'] },
      sourceOf(['packages/agents/pyproject.toml', 'langgraph/__init__.py']),
      { projects: ['packages/agents'], packages: ['langgraph'] },
    ],
    [
      'a folder without a manifest alone',
      {},
      sourceOf(['agent.py']),
      {
        moduleFolders: [''],
        packages: ['langgraph'],
        warnings: [expect.stringContaining('langgraph alone'), expect.anything()],
      },
    ],
    [
      'exact requirements',
      { dependencies: ['./a'] },
      sourceOf({
        'a/requirements.txt': '# by hand\nlanggraph==1.0.1 \\\n  --hash=sha256:ab\nx[y]==2 ; python_version > "3"\n',
      }),
      { isLocked: true, warnings: [] },
    ],
    [
      'what uv.lock names',
      { dependencies: ['.'] },
      sourceOf(['pyproject.toml', 'uv.lock']),
      {
        installer: 'uv',
        locked: { folder: '', package: undefined, isRequired: false },
        projects: [],
        isLocked: true,
        reason: 'uv.lock selects uv',
      },
    ],
    [
      "a member of a workspace by the workspace's uv.lock",
      { dependencies: ['.'] },
      sourceOf(['uv.lock', 'pyproject.toml', 'backend/pyproject.toml'], 'backend'),
      { installer: 'uv', locked: { folder: 'backend', package: undefined, isRequired: false }, isLocked: true },
    ],
    [
      'more than uv.lock names',
      { dependencies: ['.', 'langgraph'] },
      sourceOf(['pyproject.toml', 'uv.lock']),
      { locked: { folder: '', package: undefined, isRequired: false }, packages: ['langgraph'], isLocked: false },
    ],
    [
      'two packages, of which each has a uv.lock',
      { dependencies: ['./a', './b'] },
      sourceOf(['a/pyproject.toml', 'a/uv.lock', 'b/pyproject.toml', 'b/uv.lock']),
      { installer: 'either', locked: undefined, projects: ['a', 'b'] },
    ],
    [
      'a source of uv',
      { source: { kind: 'uv', root: '..', package: 'agent' } },
      sourceOf(['uv.lock', 'pyproject.toml', 'apps/pyproject.toml'], 'apps'),
      {
        installer: 'uv',
        locked: { folder: '', package: 'agent', isRequired: true },
        isLocked: true,
        reason: '`source` selects uv.lock for agent',
      },
    ],
    [
      'a source of uv whose package is the one around the configuration',
      { source: { kind: 'uv', root: '../..' } },
      sourceOf(['uv.lock', 'pyproject.toml', 'apps/a/pyproject.toml'], 'apps/a'),
      { locked: { folder: 'apps/a', package: undefined, isRequired: true } },
    ],
    ['by pip where it is asked for', { pip_installer: 'pip' }, sourceOf(['pyproject.toml']), { installer: 'pip' }],
    ['by uv where it is asked for', { pip_installer: 'uv' }, sourceOf(['pyproject.toml']), { installer: 'uv' }],
    [
      "by pip where its configuration is the project's",
      { pip_config_file: './pip.conf' },
      sourceOf(['app/pyproject.toml', 'app/pip.conf'], 'app'),
      { installer: 'pip', pipConfig: 'app/pip.conf' },
    ],
  ])('%s', (_, keys, source, expected) => {
    expect(planned(keys, source)).toMatchObject(expected);
  });
});

describe('what is warned of', () => {
  test.each<[string, PythonKeys, readonly string[], RegExp[]]>([
    ['a uv.lock', {}, ['pyproject.toml', 'uv.lock'], []],
    ['no lock file', {}, ['pyproject.toml'], [/^There is no lock file for the project\. Its packages may differ/]],
    ['a poetry.lock', {}, ['pyproject.toml', 'poetry.lock'], [/^poetry\.lock is not read: .* Commit a uv\.lock/]],
    ['a uv.lock beside it', {}, ['pyproject.toml', 'poetry.lock', 'uv.lock'], []],
    [
      'a uv.lock with pip',
      { pip_installer: 'pip' },
      ['pyproject.toml', 'uv.lock'],
      [/^uv\.lock is not read with pip\./],
    ],
  ])('%s', (_, keys, files, said) => {
    expect(planned(keys, sourceOf(files)).warnings).toEqual(said.map((each) => expect.stringMatching(each)));
  });

  test('a uv.lock on a machine without uv, which then counts as none', () => {
    const plan = withoutUv(planned({}, sourceOf(['pyproject.toml', 'uv.lock'])));
    expect(plan).toMatchObject({ installer: 'pip', locked: undefined, projects: [''], isLocked: false });
    expect(plan.warnings).toEqual([expect.stringContaining('uv.lock is not read without uv.')]);
  });
});

describe('what is refused, with its field', () => {
  test.each<[string, PythonKeys, readonly string[], (string | number)[], RegExp]>([
    ['an old Python', { python_version: '3.9' }, [], ['python_version'], /must be 3\.10 or newer\. Raise it/],
    ['no version', { python_version: 'new' }, [], ['python_version'], /must be a version such as `3\.11`/],
    ['an unknown installer', { pip_installer: 'conda' }, [], ['pip_installer'], /must be `auto`, `pip` or `uv`/],
    [
      'a lost configuration of pip',
      { pip_config_file: 'pip.conf' },
      [],
      ['pip_config_file'],
      /is not there\. Commit it/,
    ],
    ['a configuration outside', { pip_config_file: '/etc/pip.conf' }, [], ['pip_config_file'], /is not there/],
    ['a folder outside', { dependencies: ['.', '../..'] }, ['a.py'], ['dependencies', 1], /leads out of the source/],
    ['an absolute folder', { dependencies: ['/srv/a'] }, [], ['dependencies', 0], /leads out of the source/],
    ['a lost folder', { dependencies: ['./lost'] }, [], ['dependencies', 0], /names a folder that is not there/],
    ['an option', { dependencies: ['--index-url=x'] }, [], ['dependencies', 0], /not an option/],
    ['nothing', { dependencies: [' '] }, [], ['dependencies', 0], /is empty/],
    ['a source without a lock', { source: { kind: 'uv' } }, ['pyproject.toml'], ['source'], /Run `uv lock`/],
    ['a lost root', { source: { kind: 'uv', root: 'x' } }, ['uv.lock'], ['source', 'root'], /must be a folder with/],
    [
      'two sources',
      { source: { kind: 'uv' }, dependencies: ['.'] },
      ['uv.lock', 'pyproject.toml'],
      ['dependencies'],
      /has no place beside `source`/,
    ],
  ])('%s', (_, keys, files, path, message) => {
    expect(planPython(keys, sourceOf(files))).toEqual({
      kind: 'refused',
      path,
      message: expect.stringMatching(message),
    });
  });
});
