import { afterEach, expect, test } from 'vitest';
import { planPython, type PythonKeys } from '../../../../../src/agent-folder/packages/python/python-plan.ts';
import { pythonSource } from '../../../../../src/agent-folder/packages/python/python-project.ts';
import { environmentInputs } from '../../../../../src/services/control/builds/python/environment-inputs.ts';
import { temporaryFolder, write, type Files } from '../repositories.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

const project = '[project]\nname = "agent"\n[build-system]\nbuild-backend = "hatchling.build"\n';

/** The files that decide the installation of a source, or why there may be more. */
function collected(files: Files, keys: PythonKeys = { dependencies: ['.'] }): string[] {
  const root = temporaryFolder(atTheEnd);
  write(root, files);
  const source = pythonSource(root, '');
  const plan = planPython(keys, source);
  if (plan.kind === 'refused') throw new Error(plan.message);
  const inputs = environmentInputs(plan, source);
  if (inputs.kind === 'more') return [inputs.reason];
  return inputs.files.map(({ path, bytes }) =>
    path.startsWith('packages of') ? `${path}: ${bytes.toString()}` : path,
  );
}

test('a project counts its manifests and the names of its packages, but no code', () => {
  const files = { 'pyproject.toml': project, 'src/agent/__init__.py': '', 'src/agent/deep/a.py': '', 'README.md': 'x' };
  expect(collected(files)).toEqual(['pyproject.toml', 'packages of : src/agent/']);
});

test('requirements count with the files that they include', () => {
  const files = {
    'requirements.txt': '-r more/base.txt\n-c held.txt\na\n',
    'more/base.txt': 'b\n',
    'held.txt': 'a==1\n',
  };
  expect(collected(files)).toEqual(['requirements.txt', 'more/base.txt', 'held.txt']);
});

test('a lock file of uv counts with the manifests of its members', () => {
  const lock = 'source = { editable = "." }\nsource = { registry = "x" }\nsource = { virtual = "apps/one" }\n';
  const files = { 'uv.lock': lock, 'pyproject.toml': project, 'apps/one/pyproject.toml': '[project]\nname = "one"\n' };
  expect(collected(files)).toEqual(['uv.lock', 'pyproject.toml', 'apps/one/pyproject.toml', 'packages of : ']);
});

test.each<[string, Files, RegExp]>([
  ['a setup.py', { 'setup.py': '' }, /^setup\.py may read the whole repository$/],
  ['another backend', { 'pyproject.toml': 'build-backend = "maturin"\n' }, /builds by maturin$/],
  ['a backend of its own', { 'pyproject.toml': 'backend-path = ["."]\n' }, /has a build backend of its own$/],
  ['computed dependencies', { 'pyproject.toml': 'dynamic = ["version",\n "dependencies"]\n' }, /computes its depend/],
  ['hooks', { 'pyproject.toml': '[tool.hatch.build.targets.wheel.hooks.custom]\n' }, /has hooks of its own$/],
  ['a path', { 'pyproject.toml': 'dependencies = ["a @ file:///a"]\n' }, /takes a package by its path$/],
  ['local requirements', { 'requirements.txt': '-e .\n' }, /takes a package from the repository itself$/],
  ['requirements elsewhere', { 'requirements.txt': '-r ../x.txt\n' }, /reads a file outside of the source$/],
  ['requirements on a server', { 'requirements.txt': '-r https://host.example/x.txt\n' }, /reads https:/],
  [
    'a copy in a lock file',
    { 'pyproject.toml': project, 'uv.lock': 'source = { directory = "lib" }\n' },
    /^uv\.lock copies a package/,
  ],
])('%s may read more', (_, files, why) => expect(collected(files)).toEqual([expect.stringMatching(why)]));
