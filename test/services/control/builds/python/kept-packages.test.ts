import { expect, test } from 'vitest';
import { packagesAsText, readKeptPackages } from '../../../../../src/services/control/builds/python/kept-packages.ts';

test('keeps the interpreter and the packages as requirements, and reads them', () => {
  const text = packagesAsText({
    python: '3.11.2',
    packages: [
      ['langgraph', '1.2.24', null],
      ['pip', '23.0', null],
      ['tools', '0.1', 'git+https://user:secret@git.example.com/tools@0c0ffee'],
    ],
  });
  expect(text.split('\n').slice(0, 2)).toEqual(['# Python 3.11.2', 'langgraph==1.2.24']);
  expect(readKeptPackages(text)).toEqual({
    python: '3.11.2',
    packages: [
      { name: 'langgraph', version: '1.2.24', address: null },
      { name: 'tools', version: null, address: 'git+https://git.example.com/tools@0c0ffee' },
    ],
  });
});

test.each([
  ['a list without the interpreter', 'langgraph==1.0.1\n', { python: null, packages: [Object({ name: 'langgraph' })] }],
  ['no line at all', '', { python: null, packages: [] }],
  ['what is no requirement', '# A comment\n-e .\n--hash x\n', { python: null, packages: [] }],
])('reads %s', (_, text, expected) => expect(readKeptPackages(text)).toMatchObject(expected));
