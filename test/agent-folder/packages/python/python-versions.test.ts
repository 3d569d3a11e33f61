import { expect, test } from 'vitest';
import { engineInUvLock, pythonEngineProblem } from '../../../../src/agent-folder/packages/python/python-versions.ts';

test.each(['0.6.0', '0.6.11', '1.0.10rc1', '1.2.12', '2.0', 'unknown'])('%s runs', (version) => {
  expect(pythonEngineProblem(version)).toBeUndefined();
});

test.each(['0.5.4', '0.2.35', '0.6.0'.replace('6', '0')])('%s is refused with what to do', (version) => {
  expect(pythonEngineProblem(version)).toBe(
    `langgraph is ${version}, and agents need 0.6 or later. Require langgraph>=0.6 in pyproject.toml or requirements.txt, and in a lock file: the installer says which packages need an older one.`,
  );
});

test('an agent without the engine is refused with what to do', () => {
  expect(pythonEngineProblem(undefined)).toMatch(/^langgraph is not among the agent's packages, .*\. Name it in /);
});

test.each([
  ['[[package]]\nname = "langgraph"\nversion = "0.4.8"\nsource = { registry = "x" }\n', '0.4.8'],
  ['name = "langgraph"\nversion = "0.4.8"\n\nname = "langgraph"\nversion = "1.0.0"\n', undefined],
  ['name = "langgraph-sdk"\nversion = "0.4.8"\n', undefined],
])('the version in a lock file: %j', (text, version) => expect(engineInUvLock(text)).toBe(version));
