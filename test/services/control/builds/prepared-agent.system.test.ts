// What a build prepares for an agent, as clients of the deployed one see it.
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { startLocal, type LocalServices } from '../../../../src/services/control/local.ts';
import { silentLogger } from '../../../../src/kit/logger.ts';
import { renderInPage } from '../../agent/ui/page.ts';
import { installedPackages } from '../../../installed-packages.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import { httpControl } from '../http-control.ts';
import { repository } from './repositories.ts';

/** The agent's own TypeScript is 5, unlike this project's. */
const link = `
  import { mkdirSync, symlinkSync } from 'node:fs';
  mkdirSync('node_modules/@langchain', { recursive: true });
  const packages = { zod: 'zod', typescript: 'typescript-5', '@langchain/core': '@langchain/core', '@langchain/langgraph': '@langchain/langgraph' };
  for (const [name, from] of Object.entries(packages)) symlinkSync(${JSON.stringify(installedPackages())} + '/' + from, 'node_modules/' + name);`;

const files = {
  'package.json': JSON.stringify({ name: 'typed', private: true, type: 'module' }),
  'langgraph.json': JSON.stringify({ graphs: { talk: './talk.ts:talk' }, ui: { talk: './ui.tsx' } }),
  'link.mjs': link,
  'ui.tsx': 'export default { badge: ({ text }: { text: string }) => <b>{text}</b> };',
  'talk.ts': `
    import { Annotation, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
    import * as z from 'zod';
    interface Section { title: string; parts?: Section[] }
    const inner = new StateGraph(Annotation.Root({ step: Annotation<number> }))
      .addNode('count', ({ step }) => ({ step })).addEdge('__start__', 'count').compile();
    const State = Annotation.Root({ ...MessagesAnnotation.spec, topic: Annotation<'news' | 'weather'>, sections: Annotation<Section[]> });
    const atRunTime = new StateGraph(z.object({ city: z.string() }))
      .addNode('find', ({ city }) => ({ city })).addEdge('__start__', 'find').compile();
    export const talk = new StateGraph(State, Annotation.Root({ model: Annotation<string> }))
      .addNode('inner', inner).addNode('find', atRunTime).addEdge('__start__', 'inner').addEdge('inner', 'find').compile();`,
};

const atTheEnd: (() => Promise<unknown> | void)[] = [];
let services: LocalServices;
let repoUrl = '';

beforeAll(async () => {
  const postgres = await startTestPostgres();
  atTheEnd.push(() => postgres.stop());
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'landfall-typed-')));
  chmodSync(folder, 0o755);
  atTheEnd.push(() => rmSync(folder, { recursive: true, force: true }));
  repoUrl = repository(join(folder, 'git/agent'), files).folder;
  services = await startLocal({
    port: 0,
    dataDir: join(folder, 'data'),
    databaseUrl: postgres.url,
    allowGit: [join(folder, 'git')],
    clock: systemClock,
    log: silentLogger,
  });
  atTheEnd.push(() => services.close());
});
afterAll(async () => {
  for (const end of atTheEnd.reverse()) await end();
});

test('a deployed agent has the schemas of its types and its components', async () => {
  const control = httpControl(services.url, services.apiKey);
  const made = await control.createDeployment({
    name: 'typed',
    source: 'github',
    source_config: { repo_url: repoUrl, install_command: 'node link.mjs' },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [],
  });
  let status: unknown[] = [];
  while (!/DEPLOYED|FAILED/.test(String(status[0]))) {
    await systemClock.sleep(100);
    const seen = await control.getRevision(made.id, made.latest_revision_id ?? '');
    status = [seen.status, seen.status_message];
  }
  expect(status).toEqual(['DEPLOYED', null]);
  const headers = { 'x-api-key': services.apiKey, 'content-type': 'application/json' };
  const read = async (path: string): Promise<unknown> => (await fetch(`${made.url}${path}`, { headers })).json();

  const properties = {
    messages: { type: 'array', items: { type: 'object' }, langgraph_type: 'messages' },
    topic: { type: 'string', enum: ['news', 'weather'] },
    sections: { type: 'array', items: { $ref: '#/$defs/Section' } },
  };
  const $schema = 'https://json-schema.org/draft/2020-12/schema';
  const context = { $schema, type: 'object', properties: { model: { type: 'string' } } };
  const parts = { type: 'array', items: { $ref: '#/$defs/Section' } };
  const section = { type: 'object', properties: { title: { type: 'string' }, parts }, required: ['title'] };
  const whole = { $schema, type: 'object', properties, $defs: { Section: section } };
  expect(await read('/assistants/talk/schemas')).toEqual({
    graph_id: 'talk',
    input_schema: whole,
    output_schema: whole,
    state_schema: whole,
    config_schema: context,
    context_schema: context,
  });
  const step = { $schema, type: 'object', properties: { step: { type: 'number' } } };
  expect(await read('/assistants/talk/subgraphs')).toEqual({
    inner: { input_schema: step, output_schema: step, state_schema: step },
    find: expect.objectContaining({
      // The types at run time say more than those of the build.
      output_schema: expect.objectContaining({ properties: { city: { type: 'string' } }, required: ['city'] }),
    }),
  });

  const request = { method: 'POST', headers, body: JSON.stringify({ name: 'badge' }) };
  const { element, files: loaded } = await renderInPage(await (await fetch(`${made.url}/ui/talk`, request)).text(), {
    text: 'new',
  });
  expect([element, loaded]).toEqual([{ type: 'b', props: { children: 'new' } }, [`${made.url}/ui/talk/entrypoint.js`]]);
});
