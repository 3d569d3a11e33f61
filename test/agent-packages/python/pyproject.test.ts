import { expect, test } from 'vitest';
import { requiredPython, textSetting } from '../../../src/agent-packages/python/pyproject.ts';

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
