import { describe, expect, test } from 'vitest';
import {
  chooseInterpreter,
  parseInterpreters,
  type Interpreter,
} from '../../../../../src/services/control/builds/python/interpreter.ts';

const python = (version: string, others: Partial<Interpreter> = {}): Interpreter => ({
  path: `/usr/bin/python${version}`,
  version,
  makesEnvironments: true,
  abi: 'x',
  ...others,
});
const all = ['3.9.2', '3.10.1', '3.11.7', '3.13.0'].map((version) => python(version));

describe('the interpreter of an agent', () => {
  test.each<[string, string | undefined, string[], string]>([
    ['the version that is named', '3.13', [], '3.13.0'],
    ['the named version though the project needs a newer one, which pip then says', '3.10', ['>=3.13'], '3.10.1'],
    ["the public service's where none is named", undefined, [], '3.11.7'],
    ['what the project needs', undefined, ['>=3.9', '>=3.12,<4.0'], '3.13.0'],
    ['what a project of Poetry needs', undefined, ['^3.13'], '3.13.0'],
    ['the newer one of two that are equally near', '3.12', [], '3.13.0'],
  ])('is %s', (_, wanted, required, version) => {
    const choice = chooseInterpreter(all, { wanted, required, needsPip: true });
    expect(choice).toMatchObject({ kind: 'chosen', interpreter: { version } });
  });

  test('is the nearest, with a warning, where the named version is not there', () => {
    expect(chooseInterpreter([python('3.11.7')], { wanted: '3.12', needsPip: true })).toMatchObject({
      interpreter: { version: '3.11.7' },
      warning: expect.stringMatching(/^`python_version` is 3\.12, .* runs on 3\.11\.7\. Install Python 3\.12/),
    });
  });

  test('needs no pip where uv installs', () => {
    const bare = [python('3.11.2', { makesEnvironments: false })];
    expect(chooseInterpreter(bare, { needsPip: false })).toMatchObject({ kind: 'chosen', warning: undefined });
  });

  test.each<[string, Interpreter[], string | undefined, RegExp]>([
    [
      'none at all',
      [],
      undefined,
      /has no Python 3\.10 or newer that builds can run\. Install Python 3\.11 with its module venv for all users\.$/,
    ],
    [
      'old ones alone',
      [python('3.8.1')],
      '3.12',
      /has no Python 3\.10 or newer that builds can run \(it has 3\.8\.1\)\. Install Python 3\.12/,
    ],
    ['one without venv', [python('3.11.2', { makesEnvironments: false })], undefined, /\(python3\.11-venv on Debian/],
    ['too old a wish', all, '3.9', /^`python_version` must be 3\.10 or newer\. Raise it\.$/],
    ['a wish that is none', all, 'newest', /must be a version such as `3\.11`\. Correct it\.$/],
  ])('is refused with what to install: %s', (_, found, wanted, reason) => {
    const choice = chooseInterpreter(found, { wanted, needsPip: true });
    expect(choice).toEqual({ kind: 'none', reason: expect.stringMatching(reason) });
  });
});

test('interpreters describe themselves, once each; other lines count for nothing', () => {
  const line = 'landfall-python ["/usr/bin/python3", "3.11.7", true, "cpython-311"]';
  expect(parseInterpreters(['hello', line, line, 'landfall-python [1]', 'landfall-python {'])).toEqual([
    { path: '/usr/bin/python3', version: '3.11.7', makesEnvironments: true, abi: 'cpython-311' },
  ]);
});
