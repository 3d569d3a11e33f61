import { afterEach, describe, expect, test } from 'vitest';
import { folderOf, runHere } from './run-cli.ts';

const deployFile = `deployments:
  support:
    source: github
    repo-url: https://github.com/acme/agents
    repo-ref: main
    graph-config-path: agent/langgraph.json
    secrets: [NOBODY_SET_THIS]
`;
const graphConfig = '{ "graphs": { "support": "./graph.ts:graph" } }\n';

let remove = (): void => {};
afterEach(() => remove());

async function validated(files: Record<string, string>, ...args: string[]) {
  const folder = folderOf(files);
  remove = folder.remove;
  return runHere(['validate', ...args], { cwd: folder.path });
}

describe('landfall validate', () => {
  test('needs no address, no key and no secret to call sound files fine', async () => {
    const end = await validated({ '.github/landfall.yml': deployFile, 'agent/langgraph.json': graphConfig });
    expect(end).toEqual({ code: 0, out: '.github/landfall.yml: fine\nagent/langgraph.json: fine\n', err: '' });
  });

  test('says of a graph configuration that is not here that it was not looked at, and lets it pass', async () => {
    expect(await validated({ '.github/landfall.yml': deployFile })).toEqual({
      code: 0,
      out: '.github/landfall.yml: fine\n',
      err: expect.stringMatching(
        /^agent\/langgraph\.json:1:1: this graph configuration file is not here.*\(warning\)\n$/,
      ),
    });
  });

  test('tells every problem of both files at once', async () => {
    const end = await validated({
      '.github/landfall.yml': deployFile.replace('repo-ref: main', 'repo-ref: refs/heads/main\n    rebuild: sometimes'),
      'agent/langgraph.json': '{ "graph": {} }\n',
    });
    expect(end).toMatchObject({ code: 2, out: '' });
    expect(end.err.trimEnd().split('\n')).toEqual([
      '.github/landfall.yml:6:14: `rebuild` must be one of `auto`, `always`, `never`',
      'agent/langgraph.json:1:1: `graphs` is missing',
      'agent/langgraph.json:1:3: `graph` is not known; did you mean `graphs`?',
    ]);
  });

  test('warns of keys that nobody knows, and lets them pass', async () => {
    const end = await validated({
      '.github/landfall.yml': deployFile,
      'agent/langgraph.json': '{ "graphs": { "support": "./graph.ts:graph" }, "zebra": 1 }\n',
    });
    expect(end.code).toBe(0);
    expect(end.err).toBe('agent/langgraph.json:1:48: `zebra` is not known here and has no effect (warning)\n');
  });

  test('warns of keys without effect, and of what a Landfall service would refuse to run', async () => {
    const end = await validated({
      '.github/landfall.yml': deployFile,
      'agent/langgraph.json': `{
  "graphs": { "support": "./graph.ts:graph" },
  "encryption": { "path": "./encryption.ts:encryption" },
  "python_version": "3.12"
}
`,
    });
    expect(end.code).toBe(0);
    expect(end.err.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^agent\/langgraph\.json:3:3: `encryption` is not offered by .* \(warning\)$/),
      expect.stringMatching(/^agent\/langgraph\.json:4:3: `python_version` has no effect on .* \(warning\)$/),
    ]);
  });

  test('follows no path out of the working directory', async () => {
    const file = deployFile.replace('agent/langgraph.json', '../../../../etc/hostname');
    const end = await validated({ '.github/landfall.yml': file }, '--json');
    expect(JSON.parse(end.out)).toMatchObject({ fine: false, files: ['.github/landfall.yml'] });
  });

  test('tells the same as one line of JSON', async () => {
    const end = await validated(
      { 'other.yml': deployFile.replace('source', 'sourse') },
      '--config',
      'other.yml',
      '--json',
    );
    expect(end.code).toBe(2);
    expect(end.out.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(end.out)).toMatchObject({
      fine: false,
      files: ['other.yml'],
      problems: [{ file: 'other.yml', line: 3, column: 5, suggestion: 'source' }],
      warnings: [{ file: 'agent/langgraph.json' }],
    });
  });

  test('without a deploy file says where it looked', async () => {
    const end = await validated({});
    expect(end).toMatchObject({ code: 2, out: '' });
    expect(end.err).toMatch(/^\.github\/landfall\.yml:1:1: there is no deploy file here/);
  });
});
