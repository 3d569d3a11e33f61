import { afterEach, describe, expect, test } from 'vitest';
import { folderOf, runHere } from './run-cli.ts';

const deployFile = `deployments:
  support:
    source: github
    repo-url: https://github.com/acme/agents
    repo-ref: main
    graph-config-path: agent/langgraph.json
    secrets: [UNSET_VARIABLE]
`;
const graphConfig = '{ "graphs": { "support": "./graph.ts:graph" } }\n';

let remove = (): void => {};
afterEach(() => remove());

async function validated(files: Record<string, string>, ...args: string[]) {
  const folder = folderOf({ 'agent/graph.ts': '', ...files });
  remove = folder.remove;
  return runHere(['validate', ...args], { cwd: folder.path });
}

describe('landfall validate', () => {
  test('needs no address, key or secret for valid files', async () => {
    const end = await validated({ '.github/landfall.yml': deployFile, 'agent/langgraph.json': graphConfig });
    expect(end).toEqual({ code: 0, out: '.github/landfall.yml: fine\nagent/langgraph.json: fine\n', err: '' });
  });

  test('warns of a smoke test of a graph that there is not', async () => {
    const tests = `    smoke-tests:
      - { name: a, assistant: suport, input: null }
      - { name: b, assistant: support, input: null, pass-rate: 0.9 }
      - { name: c, assistant: 6ba7b810-9dad-41d1-80b4-00c04fd430c8, input: null }
`;
    expect(
      await validated({ '.github/landfall.yml': deployFile + tests, 'agent/langgraph.json': graphConfig }),
    ).toMatchObject({
      code: 0,
      out: expect.stringContaining(
        'support, smoke test b: finds a drop of 30 points with 99 %, about 25 answers, at most 98\n',
      ),
      err: '.github/landfall.yml:9:31: the `assistant` of a smoke test must be a graph of agent/langgraph.json (support) or the uuid of an assistant; did you mean `support`? (warning)\n',
    });
  });

  test('passes without a local graph configuration, and says that it was not read', async () => {
    expect(await validated({ '.github/landfall.yml': deployFile })).toEqual({
      code: 0,
      out: '.github/landfall.yml: fine, but for 1 warning\n',
      err: expect.stringMatching(
        /^agent\/langgraph\.json: this graph configuration file does not exist here.*\(warning\)\n$/,
      ),
    });
  });

  test('counts the cases of a file that a smoke test names, and reports its errors', async () => {
    const named = `${deployFile}    smoke-tests: [{ name: t, assistant: support, cases: qa/cases.jsonl }]\n`;
    const files = { '.github/landfall.yml': named, 'agent/langgraph.json': graphConfig };
    expect(await validated({ ...files, 'qa/cases.jsonl': '{"input":1}\n{"input":2}\n' })).toMatchObject({
      code: 0,
      out: expect.stringContaining('qa/cases.jsonl (2 cases): fine\n'),
    });
    expect(await validated({ ...files, 'qa/cases.jsonl': '{"input":1}\n{"output":2}\n' })).toMatchObject({
      code: 2,
      err: expect.stringMatching(/^qa\/cases\.jsonl:2:2: `output` is not supported here/),
    });
    expect(await validated(files)).toMatchObject({
      code: 2,
      err: expect.stringContaining('`smoke-tests[0].cases` names a file that is not there'),
    });
  });

  test('names the checks that are left out on purpose', async () => {
    const named = `${deployFile}    smoke-tests: [{ name: t, assistant: support, input: 1, cases: qa/a.yaml, skip-unmapped: true }]\n`;
    const cases = '- assert: [{ type: javascript, value: x }, { type: javascript, value: y }]';
    const files = { '.github/landfall.yml': named, 'agent/langgraph.json': graphConfig, 'qa/a.yaml': cases };
    expect(await validated(files)).toMatchObject({
      code: 0,
      out: expect.stringContaining('fine\nNote: 2 checks of qa/a.yaml are not run: javascript\n'),
    });
  });

  test('says what the conversations cost', async () => {
    const of = async (conversations: number) =>
      validated({
        '.github/landfall.yml': `${deployFile}    conversations: ${conversations}\n`,
        'agent/langgraph.json': graphConfig,
      });
    expect((await of(20)).out).toContain(
      'support, conversations: tries up to 20: a copy of each with one or two runs, and at most 60 copies and 120 runs where runs fail\n',
    );
    expect((await of(1)).out).toContain('conversations: tries the newest one: a copy and one or two runs, ');
  });

  test('warns of a judge that decides alone, and of one whose key is not set', async () => {
    const tests = (judge: string) => `${deployFile}    smoke-tests:
      - name: kind
        assistant: support
        input: null
        grader: { model: m, key: TEST_UNSET_GRADER_KEY }
        expect: { messages: [${judge}] }
`;
    const of = async (judge: string) =>
      validated({ '.github/landfall.yml': tests(judge), 'agent/langgraph.json': graphConfig });
    const alone = await of('{ path: "$[-1].content", judge: Is kind, decides: true }');
    expect(alone).toMatchObject({ code: 0, err: expect.stringContaining('a model alone decides smoke test kind') });
    expect(alone.err).toContain('the key of the grader of smoke test kind is not set here');
    const beside = await of('{ path: "$[-1].content", judge: Is kind, decides: true, contains: hi }');
    expect(beside.err).not.toContain('alone');
    expect((await of('{ path: "$[-1].content", judge: Is kind }')).err).not.toContain('alone');
  });

  test('warns of an environment that proves nothing, though others are promoted from it', async () => {
    const ordered = (tests: string) => `environments: [staging, production]
defaults: { repo-url: https://github.com/acme/agents, repo-ref: main, graph-config-path: agent/langgraph.json }
deployments:
  support-staging:
    environment: staging
${tests}  support: { environment: production }
`;
    const of = async (tests: string) =>
      validated({ '.github/landfall.yml': ordered(tests), 'agent/langgraph.json': graphConfig });
    const words =
      'no smoke test proves what it serves, so nothing is promoted to `support`: add `smoke-tests` (warning)\n';
    expect(await of('')).toMatchObject({ code: 0, err: `.github/landfall.yml:4:3: ${words}` });
    expect(await of('    smoke-tests: []\n')).toMatchObject({ code: 0, err: `.github/landfall.yml:6:5: ${words}` });
    const tested = await of('    smoke-tests: [{ name: talks, assistant: support, input: {} }]\n');
    expect(tested).toMatchObject({ code: 0, err: '' });
  });

  test('reports all errors of both files at once', async () => {
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

  test('warns of unknown keys, and passes', async () => {
    const end = await validated({
      '.github/landfall.yml': deployFile,
      'agent/langgraph.json': '{ "graphs": { "support": "./graph.ts:graph" }, "zebra": 1 }\n',
    });
    expect(end).toEqual({
      code: 0,
      out: '.github/landfall.yml: fine\nagent/langgraph.json: fine, but for 1 warning\n',
      err: 'agent/langgraph.json:1:48: `zebra` is not known here and has no effect (warning)\n',
    });
  });

  test('warns of keys without effect, and of those that a Landfall service rejects', async () => {
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

  test.each([['of no language', './graph:graph', 'lies in ./graph, whose ending says no language']])(
    'warns of a graph %s, which another service may run',
    async (_, path, said) => {
      const end = await validated({
        '.github/landfall.yml': deployFile,
        'agent/graph.py': '',
        'agent/graph': '',
        'agent/langgraph.json': `{\n "graphs": { "one": "./graph.ts:graph",\n "support": "${path}" }\n}`,
      });
      expect(end).toMatchObject({ code: 0, err: expect.stringContaining(said) });
      expect(end.err).toMatch(/^agent\/langgraph\.json:3:13: Graph "support" .* \(warning\)\n$/);
    },
  );

  test('checks a graph in Python like a build of it', async () => {
    const end = await validated({
      '.github/landfall.yml': deployFile,
      'agent/pyproject.toml': '',
      'agent/agent/graph.py': 'raise RuntimeError("loaded")',
      'agent/langgraph.json': `{
  "dependencies": ["."],
  "graphs": { "support": "agent.graph:graph", "other": "agent/graph.py:graph" },
  "dockerfile_lines": ["RUN apt-get install -y ffmpeg"]
}
`,
    });
    expect(end.code).toBe(0);
    expect(end.err.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^agent\/langgraph\.json:4:24: `dockerfile_lines\[0\]` needs an image, .* \(warning\)$/),
      expect.stringMatching(/^agent\/langgraph\.json:2:3: There is no lock file for agent\. .* \(warning\)$/),
    ]);
  });

  test('reports what a build of a graph in Python refuses', async () => {
    const end = await validated({
      '.github/landfall.yml': deployFile,
      'agent/graph.py': '',
      'agent/langgraph.json':
        '{\n  "graphs": { "support": "./graph.py:graph" },\n  "dependencies": ["langgraph", "./lost"]\n}\n',
    });
    expect(end).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /^agent\/langgraph\.json:3:33: `dependencies\[1\]` names a folder that is not there\./,
      ),
    });
  });

  test('reports all missing code files, and opens none', async () => {
    const end = await validated({
      '.github/landfall.yml': deployFile,
      'agent/auth.ts': 'throw new Error("loaded");',
      'agent/langgraph.json': `{
  "graphs": {
    "here": "./graph.ts:graph",
    "support": "./grahp.ts:graph",
    "described": { "path": "./src/described.ts:graph" },
    "folder": "../agent:graph",
    "sister": "../shared/sister.ts:graph",
    "out": "../../etc/passwd:x",
    "absolute": "/etc/passwd.ts:x"
  },
  "http": { "app": "./app.ts:app" },
  "auth": { "path": "./auth.ts:auth" },
  "store": { "index": { "dims": 3, "embed": "./embed.ts:embed" } }
}
`,
    });
    expect(end).toMatchObject({ code: 2, out: '' });
    expect(end.err.split('\n').filter((line) => line !== '' && !line.endsWith('(warning)'))).toEqual([
      'agent/langgraph.json:4:16: `graphs.support` names a file that is not there: ./grahp.ts',
      'agent/langgraph.json:5:28: `graphs.described.path` names a file that is not there: ./src/described.ts',
      'agent/langgraph.json:6:15: `graphs.folder` names a file that is not there: ../agent',
      'agent/langgraph.json:7:15: `graphs.sister` names a file that is not there: ../shared/sister.ts',
      'agent/langgraph.json:8:12: `graphs.out` leads out of what is deployed: ../../etc/passwd',
      'agent/langgraph.json:9:17: `graphs.absolute` leads out of what is deployed: /etc/passwd.ts',
      'agent/langgraph.json:11:20: `http.app` names a file that is not there: ./app.ts',
      'agent/langgraph.json:13:45: `store.index.embed` names a file that is not there: ./embed.ts',
    ]);
  });

  test('warns of a domain that no agent server here would call', async () => {
    const end = await validated({
      '.github/landfall.yml': deployFile,
      'agent/langgraph.json': `{
  "graphs": { "support": "./graph.ts:graph" },
  "webhooks": { "url": { "allowed_domains": ["hooks.example.com", "169.254.169.254"] } }
}
`,
    });
    expect(end).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^agent\/langgraph\.json:3:67: this address lies in a network .* \(warning\)\n$/),
    });
  });

  test('warns of a file that a build may generate', async () => {
    const end = await validated({
      '.github/landfall.yml': `${deployFile}    build-command: npm run build\n`,
      'agent/langgraph.json': '{ "graphs": { "support": "./dist/graph.js:graph" } }',
    });
    expect(end).toMatchObject({
      code: 0,
      err: 'agent/langgraph.json:1:26: `graphs.support` names a file that is not there, so its build has to make it: ./dist/graph.js (warning)\n',
    });
  });

  test('treats what is outside of an uploaded folder as missing', async () => {
    const end = await validated({
      '.github/landfall.yml': 'name: echo\nsource-dir: agent\ngraph-config-path: langgraph.json\n',
      'graph.ts': '',
      'agent/langgraph.json': '{ "graphs": { "support": "../graph.ts:graph" } }',
    });
    expect(end).toMatchObject({
      code: 2,
      err: 'agent/langgraph.json:1:26: `graphs.support` leads out of what is deployed: ../graph.ts\n',
    });
  });

  test('follows no path out of the working directory', async () => {
    const file = deployFile.replace('agent/langgraph.json', '../../../../etc/hostname');
    const end = await validated({ '.github/landfall.yml': file }, '--json');
    expect(JSON.parse(end.out)).toMatchObject({ fine: false, files: ['.github/landfall.yml'] });
  });

  test('reports the same as one line of JSON', async () => {
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

  test('says where it looked without a deploy file', async () => {
    const end = await validated({});
    expect(end).toMatchObject({ code: 2, out: '' });
    expect(end.err).toMatch(/^\.github\/landfall\.yml: there is no deploy file here/);
  });
});
