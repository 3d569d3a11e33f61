import { silentLogger } from '../../../../src/kit/logger.ts';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadAgentCode } from '../../../../src/services/agent/agent-code.ts';
import { readConfiguration } from '../../../../src/services/agent/configuration.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { StartupError, startupLines } from '../../../../src/services/agent/startup-error.ts';
import { temporaryAgent } from '../temporary-agent.ts';
import type { TemporaryAgent } from '../temporary-agent.ts';

const graph = `
  import { Annotation, StateGraph } from '@langchain/langgraph';
  const State = Annotation.Root({ said: Annotation<string> });
  export const one = new StateGraph(State).addNode('say', () => ({ said: 'x' })).addEdge('__start__', 'say').compile();`;

const files = {
  'graph.ts': graph,
  'auth.ts': `
    import { Auth } from '@langchain/langgraph-sdk/auth';
    export const auth = new Auth().authenticate(() => 'ada');
    export const mute = new Auth().on('*', () => true);
    export default auth;
    export const none = 7;`,
  'throws.ts': `const nothing: { auth?: { path: string } } = {};\nexport const auth = nothing.auth!.path;`,
  'app.js': `export const app = { fetch: () => new Response('x') };\nexport const word = 'x';`,
};

/** The error lines for an agent with these keys; undefined if it loads. */
async function refusalOf(agent: TemporaryAgent, keys: object): Promise<string[] | undefined> {
  const config = { graphs: { one: './graph.ts:one' }, ...keys };
  writeFileSync(agent.configPath, JSON.stringify(config, undefined, 1));
  try {
    await loadAgentCode(readConfiguration(agent.configPath, silentLogger), agent.configPath, {
      log: silentLogger,
      clock: systemClock,
    });
    return undefined;
  } catch (error) {
    if (error instanceof StartupError) return startupLines(error);
    throw error;
  }
}

describe('access rules and applications', () => {
  let agent: TemporaryAgent;
  beforeAll(() => {
    agent = temporaryAgent(files);
  });
  afterAll(() => agent.remove());

  test.each<[string, object]>([
    ['rules by export name', { auth: { path: './auth.ts:auth' } }],
    ['rules as the default export', { auth: { path: './auth.ts' } }],
    ['an application with a `fetch` method', { http: { app: './app.js:app' } }],
    ['neither', { auth: {}, http: {} }],
  ])('load %s', async (_, keys) => {
    expect(await refusalOf(agent, keys)).toBeUndefined();
  });

  test.each<[string, object, RegExp]>([
    [
      'a missing file',
      { auth: { path: './nowhere.ts:auth' } },
      /:6:11: `auth\.path` names a file that is not there: \.\/nowhere\.ts$/,
    ],
    [
      'a missing export',
      { auth: { path: './auth.ts:aut' } },
      /:6:11: `auth\.path`: \.\/auth\.ts exports no "aut"; it exports .*; did you mean "auth"\?$/,
    ],
    [
      'an export that is not Auth',
      { auth: { path: './auth.ts:none' } },
      /:6:11: `auth\.path`: export "none" of \.\/auth\.ts is no `Auth`: export `new Auth\(\)`, with `import \{ Auth \} from '@langchain\/langgraph-sdk\/auth'`$/,
    ],
    [
      'rules without authenticate',
      { auth: { path: './auth.ts:mute' } },
      /:6:11: `auth\.path`: its `Auth` has no `authenticate`/,
    ],
    [
      'an export that is not an application',
      { http: { app: './app.js:word' } },
      /:6:10: `http\.app` is no application: export a Hono application/,
    ],
    ['encryption', { encryption: { path: './auth.ts:auth' } }, /:5:2: `encryption` is not offered/],
  ])('reject %s with its line', async (_, keys, line) => {
    const [first = ''] = (await refusalOf(agent, keys)) ?? [];
    expect(first).toMatch(/^error\[config-invalid\]: langgraph\.json:/);
    expect(first).toMatch(line);
  });

  test('report the line of an error thrown while loading', async () => {
    const [first] = (await refusalOf(agent, { auth: { path: './throws.ts:auth' } })) ?? [];
    expect(first).toMatch(
      /langgraph\.json:6:11: `auth\.path` can't be loaded: .*throws\.ts.*: loading auth\.path threw TypeError: /,
    );
  });
});
