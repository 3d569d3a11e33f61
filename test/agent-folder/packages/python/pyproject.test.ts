import { expect, test } from 'vitest';
import { namesUvIndex, requiredPython, textSetting } from '../../../../src/agent-folder/packages/python/pyproject.ts';

test.each([
  ['[project]\nrequires-python = ">=3.12"\n', '>=3.12'],
  ["[tool.poetry.dependencies]\npython = '^3.11'\n", '^3.11'],
  ['[project]\nname = "a"\n', undefined],
])('what a manifest requires: %j', (text, required) => expect(requiredPython(text)).toBe(required));

test.each([
  ['name = "a" # why\n', 'a'],
  ["  name='a'\n", 'a'],
  ['names = "b"\nname = "a"\n', 'a'],
  ['name = 1\n', undefined],
  ['name = "a\n', undefined],
  ['name\n', undefined],
])('the text of a key: %j', (text, value) => expect(textSetting(text, 'name')).toBe(value));

test.each([
  ['[[tool.uv.index]]\nurl = "https://index.example"', true],
  ['[tool.uv.sources]\nmine = { git = "https://example.com/mine" }', true],
  ['[tool.uv]\nindex-url = "https://index.example"\n[project]', true],
  ['[tool.uv]\ndev-dependencies = ["pytest"]\n[tool.other]\nindex = "x"', false],
  ['[tool.uv.workspace]\nmembers = ["a"]', false],
  ['[project]\nname = "a"', false],
])('whether a manifest tells uv where packages are: %j', (text, expected) => {
  expect(namesUvIndex(text)).toBe(expected);
});
