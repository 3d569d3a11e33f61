import { silentLogger } from '../../../../src/kit/logger.ts';
// A deployment's own runs in its tracing project: the control service over HTTP, with a real agent server from a build.
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../../src/kit/clock.ts';
import { startLocal, type LocalServices } from '../../../../src/services/control/local.ts';
import { startTestPostgres } from '../../../kit/postgres/postgres.ts';
import { installedPackages } from '../../../installed-packages.ts';
import { repository } from '../builds/repositories.ts';
import { httpControl } from '../http-control.ts';

const atTheEnd: (() => Promise<unknown> | void)[] = [];
let services: LocalServices;
let folder = '';

beforeAll(async () => {
  const postgres = await startTestPostgres();
  atTheEnd.push(() => postgres.stop());
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'landfall-traced-')));
  chmodSync(folder, 0o755);
  atTheEnd.push(() => rmSync(folder, { recursive: true, force: true }));
  repository(join(folder, 'git/agent'), {
    'package.json': JSON.stringify({ name: 'traced', version: '1.0.0', private: true, type: 'module' }),
    'langgraph.json': JSON.stringify({ node_version: '24', graphs: { talk: './talk.ts:talk' } }),
    'talk.ts': `
      import { AIMessage } from '@langchain/core/messages';
      import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
      const usage_metadata = { input_tokens: 7, output_tokens: 3, total_tokens: 10 };
      export const talk = new StateGraph(MessagesAnnotation)
        .addNode('say', async ({ messages }) => {
          if (messages.at(-1)?.content === 'fail') throw new TypeError('there is no model');
          const seen = Object.keys(process.env).filter((name) => name.includes('TRACING')).join();
          return { messages: [new AIMessage({ content: seen, usage_metadata })] };
        })
        .addEdge('__start__', 'say')
        .addEdge('say', '__end__');`,
  });
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

async function until<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (const end = performance.now() + 120_000; performance.now() < end; await systemClock.sleep(100)) {
    const found = await find();
    if (found !== undefined) return found;
  }
  throw new Error('waited in vain');
}

test('a deployment’s runs are in its project with tokens and errors, and outlive it', async () => {
  const control = httpControl(services.url, services.apiKey);
  const made = await control.createDeployment({
    name: 'traced',
    source: 'github',
    // The packages of its graphs are already installed here.
    source_config: {
      repo_url: join(folder, 'git/agent'),
      install_command: `ln -s ${installedPackages()} node_modules`,
    },
    source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
    secrets: [],
  });
  const revision = made.latest_revision_id ?? '';
  const { status, status_message } = await until(async () => {
    const seen = await control.getRevision(made.id, revision);
    return /DEPLOYED|FAILED/.test(seen.status) ? seen : undefined;
  });
  expect([status, status_message]).toEqual(['DEPLOYED', null]);
  const run = async (content: string): Promise<string> => {
    const answer = await fetch(`${made.url}/runs/wait`, {
      method: 'POST',
      headers: { 'x-api-key': services.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'talk', input: { messages: [{ role: 'user', content }] } }),
    });
    return answer.text();
  };
  // The agent's own code sees the address for its runs, but not the token.
  const said = await run('hello');
  expect(said).toContain('LANDFALL_TRACING_URL');
  expect(said).not.toContain('LANDFALL_TRACING_TOKEN');
  await run('fail');
  const project = made.tracer_session_id ?? '';
  const runs = await until(async () => {
    const { resources } = await control.listProjectRuns(project, {});
    return resources.length >= 2 ? resources : undefined;
  });
  expect(runs).toEqual([
    expect.objectContaining({
      graph_id: 'talk',
      status: 'error',
      revision_id: revision,
      error: { error: 'TypeError', message: 'there is no model' },
      tokens: null,
    }),
    expect.objectContaining({
      graph_id: 'talk',
      status: 'success',
      revision_id: revision,
      error: null,
      tokens: { input: 7, output: 3, total: 10 },
    }),
  ]);
  expect(await control.getProject(project)).toMatchObject({ name: 'traced', run_count: 2 });

  await control.deleteDeployment(made.id);
  await until(async () => ((await control.getProject(project)).deployment_id === null ? true : undefined));
  expect((await control.listProjectRuns(project, {})).resources).toHaveLength(2);
  await control.deleteProject(project);
});
