import { afterEach, describe, expect, test } from 'vitest';
import { folderOf, runHere } from './run-cli.ts';

const deployFile = `deployments:
  support:
    source: github
    repo-url: https://github.com/acme/agents
    repo-ref: main
    graph-config-path: agent/langgraph.json
`;
const graphConfig = '{ "graphs": { "support": "./graph.ts:graph" } }\n';

let remove = (): void => {};
afterEach(() => remove());

async function validated(files: Record<string, string>) {
  const folder = folderOf({ 'agent/graph.ts': '', ...files });
  remove = folder.remove;
  return runHere(['validate'], { cwd: folder.path });
}

describe('packages that landfall validate looks at', () => {
  const yarnLock = (engine: string) => `"@langchain/langgraph@^0.2.5":\n  version "${engine}"\n`;
  const npmLock = `{"packages":{"node_modules/@langchain/langgraph": {\n "version": "0.2.56" }}}`;
  const needed = 'and agents need 0.2.57 or later. Update it in package.json and commit the new lock file';
  test.each([
    ['beside the agent', { 'agent/yarn.lock': yarnLock('0.2.8') }, 'agent/yarn.lock', '0.2.8'],
    ['of the workspace', { 'package-lock.json': npmLock }, 'package-lock.json', '0.2.56'],
    [
      'that packageManager selects',
      {
        'agent/package.json': '{"packageManager":"yarn@1.22.22"}',
        'agent/yarn.lock': yarnLock('0.2.9'),
        'agent/package-lock.json': '{}',
      },
      'agent/yarn.lock',
      '0.2.9',
    ],
  ])('refuses an engine that is too old in the lock file %s', async (_, files, file, found) => {
    const end = await validated({ '.github/landfall.yml': deployFile, 'agent/langgraph.json': graphConfig, ...files });
    expect(end).toEqual({ code: 2, out: '', err: `${file}: @langchain/langgraph is ${found}, ${needed}\n` });
  });

  test('reads no lock file above a folder that is uploaded, and warns that it has none', async () => {
    const end = await validated({
      '.github/landfall.yml': 'name: echo\nsource-dir: agent\ngraph-config-path: langgraph.json\n',
      'agent/langgraph.json': graphConfig,
      'agent/package.json': '{}',
      'package-lock.json': npmLock,
    });
    expect(end).toMatchObject({
      code: 0,
      err: 'agent/package.json: package.json has no lock file beside or above it: its packages may differ in the next revision. Commit a lock file (warning)\n',
    });
  });

  test('takes an engine that is new enough from a lock file', async () => {
    const files = { '.github/landfall.yml': deployFile, 'agent/langgraph.json': graphConfig };
    expect(await validated({ ...files, 'agent/yarn.lock': yarnLock('0.2.57') })).toMatchObject({ code: 0, err: '' });
  });
});
