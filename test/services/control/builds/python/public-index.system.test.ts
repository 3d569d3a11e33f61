import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { buildFolder } from '../../../../../src/services/control/builds/build-folder.ts';
import { workplace } from '../building.ts';
import { commit, type Files } from '../repositories.ts';
import { describePython } from '../../../../python/needs-python.ts';

const atTheEnd: (() => void)[] = [];
afterEach(() => {
  for (const end of atTheEnd.splice(0).reverse()) end();
});

const graph = (said: string): string => `from typing_extensions import TypedDict
from langgraph.graph import StateGraph
from .words import greeting

class State(TypedDict):
    name: str

async def greet(state: State) -> State:
    return {"name": greeting(state["name"], "${said}")}

graph = StateGraph(State).add_node(greet).set_entry_point("greet").set_finish_point("greet")
`;

const agent: Files = {
  'langgraph.json': JSON.stringify({
    dependencies: ['.'],
    graphs: { greeter: './src/greeter/graph.py:graph' },
    python_version: '3.11',
  }),
  'pyproject.toml':
    '[project]\nname = "greeter"\nversion = "0.1"\ndependencies = ["langgraph"]\n[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[tool.setuptools.packages.find]\nwhere = ["src"]\n',
  'src/greeter/__init__.py': '',
  'src/greeter/words.py': 'def greeting(name, word): return f"{word} {name}"\n',
  'src/greeter/graph.py': graph('Hello'),
};

describePython('builds of agents in Python', () => {
  test('builds a project with packages of the public index', async () => {
    const here = workplace(agent, atTheEnd);
    const settings = { env: process.env };
    const { graphConfigFile } = await here.build({ settings });
    expect(here.lines.find((line) => line.startsWith('Installing: ') && line.includes('-e .'))).toContain('uv pip');
    expect(here.lines).toContain('Imported the graphs in Python; the schemas of these are kept: greeter.');
    const schemas = JSON.parse(readFileSync(join(graphConfigFile, '../.landfall-build/python-schemas.json'), 'utf8'));
    expect(schemas).toMatchObject({ greeter: { input_schema: { properties: { name: { type: 'string' } } } } });

    commit(here.repo, { 'src/greeter/graph.py': graph('Goodbye') });
    await here.build({ request: { revisionId: 'r-2' }, settings });
    expect(here.lines).toContain('An earlier build installed these packages: reusing them.');
    const python = join(buildFolder(here.dataDir, 'r-2').python, 'bin/python');
    const program =
      'import asyncio\nfrom greeter.graph import graph\nprint(asyncio.run(graph.compile().ainvoke({"name": "Ada"})))';
    expect(execFileSync(python, ['-I', '-c', program], { encoding: 'utf8' })).toBe("{'name': 'Goodbye Ada'}\n");

    commit(here.repo, { 'src/greeter/graph.py': 'import package_that_is_not_there\n' });
    expect(await here.reason({ request: { revisionId: 'r-3' }, settings })).toMatch(
      /graph "greeter" needs a module that is not there: No module named 'package_that_is_not_there'\. Add its package/,
    );
  });

  test('falls back to pip when uv fails', async () => {
    const files = {
      'langgraph.json': JSON.stringify({ dependencies: ['./app'], graphs: { agent: './app/agent.py:graph' } }),
      // Only pip knows the option.
      'app/requirements.txt': 'langgraph --config-settings="a=b"\n',
      'app/agent.py': graph('Hello').replace('from .words import greeting', 'greeting = "{} {}".format'),
    };
    const here = workplace(files, atTheEnd);
    await here.build({ settings: { env: process.env } });
    const names = here.lines.filter((line) => /^Installing: .*-r /.test(line)).map((line) => line.split(' ')[1]);
    expect(names).toEqual(['uv', 'pip']);
    expect(here.lines.join('\n')).toMatch(/uv pip install .* failed: [^]*Trying pip\./);
  });

  test('does not fall back to the index of pip where uv has one of its own', async () => {
    const env = { ...process.env, UV_DEFAULT_INDEX: 'http://127.0.0.1:9/simple', UV_HTTP_RETRIES: '0' };
    const here = workplace(agent, atTheEnd);
    expect(await here.reason({ settings: { env } })).toContain('uv pip install -e . failed');
    expect(here.lines.some((line) => line.startsWith('Installing: pip'))).toBe(false);
  });
});
