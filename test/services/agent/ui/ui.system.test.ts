import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { Gateway } from '../../../../src/services/control/gateway/gateway.ts';
import { createHttpServer } from '../../../../src/services/control/server.ts';
import { silentLogger } from '../../../../src/kit/logger.ts';
import { serveAgent, type Serving } from '../serving.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import { renderInPage } from './page.ts';

const graph = `
  import { Annotation, StateGraph } from '@langchain/langgraph';
  export const echo = new StateGraph(Annotation.Root({ said: Annotation<string> }))
    .addNode('echo', (state) => state).addEdge('__start__', 'echo').compile();`;
const components = `
  import { greeting } from 'shared';
  import './styles.css';
  const Weather = ({ city }: { city: string }) => <b className="weather">{greeting}, {city}</b>;
  export default { weather: Weather, 'it\\'s "odd"': Weather };`;
const sources = {
  'graph.ts': graph,
  'src/ui.tsx': components,
  'src/plain.jsx': 'export default { text: () => <i>text</i> };',
  'src/styles.css': '.weather { color: red }',
  'auth.ts': `
    import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth';
    export const auth = new Auth().authenticate((request) => {
      const name = request.headers.get('x-user');
      if (name === null) throw new HTTPException(401, { message: 'Who are you?' });
      return name;
    });`,
};
const config = {
  graphs: { echo: './graph.ts:echo' },
  ui: { 'my agent': './src/ui.tsx', plain: './src/plain.jsx' },
  ui_config: { shared: ['shared'] },
};

async function serveUi(
  keys: object = {},
  token?: string,
  more: Record<string, string> = {},
  revisionId?: string,
): Promise<Serving> {
  const agent = temporaryAgent({ ...sources, ...more, 'langgraph.json': { ...config, ...keys } });
  const serving = await serveAgent({ configPath: agent.configPath, token, revisionId });
  const close = async () => {
    await serving.close();
    agent.remove();
  };
  return { ...serving, close };
}

const load = (address: string, body: object, headers: Record<string, string> = {}) =>
  fetch(address, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });

let serving: Serving;
beforeAll(async () => {
  serving = await serveUi();
});
afterAll(() => serving.close());

test.each(['weather', 'it\'s "odd"'])('a page renders the component %s with its own React', async (name) => {
  const answer = await load(`${serving.url}/ui/my%20agent`, { name });
  expect(answer.headers.get('content-type')).toContain('text/html');
  const { element, files } = await renderInPage(await answer.text(), { city: 'Kyiv' });
  expect(element).toEqual({ type: 'b', props: { className: 'weather', children: ['Hello', ', ', 'Kyiv'] } });
  expect(files).toEqual(['css', 'js'].map((kind) => `${serving.url}/ui/my%20agent/entrypoint.${kind}`));
  const styles = await fetch(files[0] ?? '');
  expect(styles.headers.get('content-type')).toBe('text/css; charset=utf-8');
  expect(await styles.text()).toContain('.weather{color:red}');
});

test('a UI without style sheet has one tag, and says which component it lacks', async () => {
  const html = async (name: string) => (await load(`${serving.url}/ui/plain`, { name })).text();
  const { element, files } = await renderInPage(await html('text'), {});
  expect(element).toEqual({ type: 'i', props: { children: 'text' } });
  expect(files).toEqual([`${serving.url}/ui/plain/entrypoint.js`]);
  await expect(renderInPage(await html('other'), {})).rejects.toThrow(
    'other is not a component of the UI "plain". It has: text',
  );
});

test.each([
  [
    'POST',
    '/ui/other',
    { name: 'weather' },
    404,
    'There is no UI "other". The graph configuration has "my agent", "plain".',
  ],
  ['POST', '/ui/plain', {}, 422, [expect.objectContaining({ loc: ['body', 'name'], type: 'missing' })]],
  ['GET', '/ui/plain/entrypoint.css', undefined, 404, 'The UI "plain" has no style sheet.'],
  ['GET', '/ui/plain/..%2Fentrypoint.js', undefined, 404, expect.stringContaining('There is no GET')],
])('%s %s with %o is refused', async (method, path, body, status, detail) => {
  const address = `${serving.url}${path}`;
  const answer = body === undefined ? await fetch(address, { method }) : await load(address, body);
  expect([answer.status, await answer.json()]).toEqual([status, { detail }]);
});

test('files need no credentials, tags do, through the gateway with its address', async () => {
  const own = await serveUi({ auth: { path: './auth.ts:auth' }, http: { mount_prefix: '/api' } }, 'only-the-gateway');
  const deployment = '6f1e6a3c-0f6e-4f43-8a51-5d2d0f2f9a11';
  const gateway = new Gateway({
    authorize: async (_, header) => (header('x-api-key') === 'a key' ? 'allowed' : { status: 401, detail: 'No key.' }),
    clock: systemClock,
    log: silentLogger,
  });
  gateway.switchTo(deployment, { origin: own.url, token: 'only-the-gateway' });
  const front = createHttpServer({ fetch: () => expect.unreachable(), agents: gateway.handle, basePath: '/base' });
  await once(front.listen(0, '127.0.0.1'), 'listening');
  const address = `http://127.0.0.1:${Object(front.address()).port}/base/agents/${deployment}/api/ui/plain`;
  const statusFor = async (headers: Record<string, string>) => (await load(address, { name: 'text' }, headers)).status;
  expect([await statusFor({ 'x-user': 'ada' }), await statusFor({ 'x-api-key': 'a key' })]).toEqual([401, 401]);
  const answer = await load(address, { name: 'text' }, { 'x-api-key': 'a key', 'x-user': 'ada' });
  const { files } = await renderInPage(await answer.text(), {});
  expect(files).toEqual([`${address}/entrypoint.js`]);
  expect((await fetch(`${address}/other.js`)).status).toBe(401);
  const none = await fetch(`${address.replace('plain', 'none')}/entrypoint.js`);
  expect([none.status, Object(await none.json()).detail]).toEqual([
    404,
    expect.stringContaining('no such file of a UI'),
  ]);
  front.closeAllConnections();
  front.close();
  await own.close();
});

test('the agent’s own application gets no request without a key', async () => {
  const app = "export const app = () => new Response('secret');";
  const own = await serveUi({ ui: {}, http: { app: './app.ts:app' } }, undefined, { 'app.ts': app });
  const shown = await own.fetch(new Request('http://agent.test/ui/plain/entrypoint.js'));
  expect(await shown.text()).toBe('secret');
  for (const [path, status] of [
    ['/ui/plain/entrypoint.js', 404],
    ['/ui/plain/entrypoint.html', 401],
    ['/ui/%zz/entrypoint.js', 404],
    ['/threads', 401],
  ] as const) {
    const headers = { 'x-landfall-without-key': 'true' };
    expect((await own.fetch(new Request(`http://agent.test${path}`, { headers }))).status).toBe(status);
  }
  await own.close();
});

test('a revision that was built before its UI was bundled starts without one', async () => {
  const own = await serveUi({ ui: { plain: './src/none.tsx' } }, undefined, {}, 'an-older-revision');
  expect((await load(`${own.url}/ui/plain`, { name: 'text' })).status).toBe(404);
  expect(own.lines.join('\n')).toContain('No UI is served: `ui.plain` points to a missing file');
  await own.close();
});

test('http.disable_ui removes it, and an agent with no UI has no such paths', async () => {
  const disabled = await serveUi({ http: { disable_ui: true } });
  const refused = await load(`${disabled.url}/ui/plain`, { name: 'text' });
  expect([refused.status, await refused.json()]).toEqual([
    404,
    { detail: '/ui/plain is disabled by http.disable_ui of the graph configuration.' },
  ]);
  await disabled.close();
  const without = await serveUi({ ui: {} });
  const absent = await load(`${without.url}/ui/plain`, { name: 'text' });
  expect([absent.status, await absent.json()]).toEqual([404, { detail: 'There is no POST /ui/plain here.' }]);
  await without.close();
});

test.each([
  ['a syntax error', { plain: './src/bad.tsx' }, /^src\/bad\.tsx:2:17: Expected identifier but found ";"/],
  ['a missing package', { plain: './src/lacking.tsx' }, /^src\/lacking\.tsx:1:17: Could not resolve "no-such-package"/],
  [
    'Tailwind without its plugin',
    { plain: './src/wind.tsx' },
    /^src\/wind\.css:1:9: This style sheet needs Tailwind\. Add/,
  ],
  ['a missing file', { plain: './src/none.tsx' }, /^`ui\.plain` points to a missing file: \.\/src\/none\.tsx/],
  ['a file outside', { plain: '../ui.tsx' }, /^`ui\.plain` is outside the folder/],
])('a start without a build names %s with its place', async (_, ui, message) => {
  const agent = temporaryAgent({
    ...sources,
    'langgraph.json': { ...config, ui },
    'src/bad.tsx': 'const x = 1;\nexport default {;\n',
    'src/lacking.tsx': "import all from 'no-such-package';\nexport default { all };",
    'src/wind.tsx': "import './wind.css';\nexport default {};",
    'src/wind.css': "@import 'tailwindcss';",
  });
  const starting = serveAgent({ configPath: agent.configPath });
  await expect(starting).rejects.toMatchObject({ code: 'ui-invalid', lines: [expect.stringMatching(message)] });
  agent.remove();
});
