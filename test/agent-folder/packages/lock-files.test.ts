import { expect, test } from 'vitest';
import {
  engineProblem,
  lockedEngineVersion,
  type PackageManager,
} from '../../../src/agent-folder/packages/lock-files.ts';

test.each(['0.2.57', '0.2.74', '0.3.0', '0.4.9', '1.0.0-rc.1', '2.0.0', undefined, 'workspace'])(
  'accepts the engine %s',
  (found) => {
    expect(engineProblem(found)).toBeUndefined();
  },
);

test.each(['0.2.56', '0.2.8', '0.1.99', '0.0.7'])('names the engine %s and the needed one', (found) => {
  expect(engineProblem(found)).toBe(
    `@langchain/langgraph is ${found}, and agents need 0.2.57 or later. Update it in package.json and commit the new lock file.`,
  );
});

test.each<[string, PackageManager, string, string | undefined]>([
  [
    'npm',
    'npm',
    '    "node_modules/@langchain/langgraph": {\n      "version": "0.2.8",\n      "resolved": "x"\n    },\n    "node_modules/@langchain/langgraph-sdk": {\n      "version": "0.0.1"',
    '0.2.8',
  ],
  [
    'npm below a workspace',
    'npm',
    '    "apps/agent/node_modules/@langchain/langgraph": {\n      "version": "0.3.1",\n',
    '0.3.1',
  ],
  [
    'yarn',
    'yarn',
    '"@langchain/langgraph-sdk@^0.1":\n  version "0.1.0"\n\n"@langchain/langgraph@^0.2.5", "@langchain/langgraph@^0.2.8":\n  version "0.2.11"\n',
    '0.2.11',
  ],
  ['newer yarn', 'yarn', '"@langchain/langgraph@npm:^0.2.5":\n  version: 0.2.41\n  resolution: x\n', '0.2.41'],
  [
    'pnpm',
    'pnpm',
    "packages:\n\n  '@langchain/langgraph@0.2.44':\n    resolution: {}\n\nsnapshots:\n\n  '@langchain/langgraph@0.2.44(@langchain/core@0.3.29(openai@4.0.0))':\n",
    '0.2.44',
  ],
  ['older pnpm', 'pnpm', '  /@langchain/langgraph@0.2.3(x@1):\n', '0.2.3'],
  ['bun', 'bun', '    "@langchain/langgraph": ["@langchain/langgraph@0.2.65", "", {}, "sha512-x"],\n', '0.2.65'],
  [
    'npm with two versions',
    'npm',
    '"node_modules/@langchain/langgraph": {\n "version": "1.0.0"\n},\n"node_modules/x/node_modules/@langchain/langgraph": {\n "version": "0.2.8"',
    undefined,
  ],
  ['npm without it', 'npm', '"node_modules/x": { "version": "1.0.0" }', undefined],
])('reads the engine of a lock file of %s', (_, manager, text, version) => {
  expect(lockedEngineVersion(manager, text)).toBe(version);
});
