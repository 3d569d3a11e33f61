import { describe, expect, test } from 'vitest';
import { readGraphConfig } from '../../../src/agent-folder/graph-config/read.ts';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';

const graphs = '"graphs": {"echo": "./src/graph.ts:graph"}';

/** The problems of a text, as a person sees them. */
function problemsOf(text: string): string[] {
  const read = readGraphConfig(text, 'langgraph.json');
  return read.ok ? [] : read.problems.map(formatProblem);
}

describe('a graph configuration file that holds', () => {
  test('names each graph by its id', { meta: { claims: ['agent.graphs.addressed-by-id'] } }, () => {
    const read = readGraphConfig(`{${graphs}}`, 'langgraph.json');
    expect(read).toMatchObject({ ok: true, value: { graphs: { echo: './src/graph.ts:graph' } }, warnings: [] });
  });

  test('knows every key of the public service', () => {
    const text = JSON.stringify({
      $schema: 'schema.json',
      graphs: { echo: { path: './src/graph.ts:graph', description: 'Answers.' } },
      env: { NAME: 'value' },
      node_version: '24',
      python_version: '3.12',
      dependencies: ['.'],
      dockerfile_lines: ['RUN true'],
      base_image: 'base',
      image_distro: 'debian',
      pip_config_file: 'pip.conf',
      pip_installer: 'auto',
      keep_pkg_tools: ['pip'],
      api_version: '1',
      store: {
        index: { dims: 3, embed: './embed.ts:embed', fields: ['text'] },
        ttl: { refresh_on_read: false, default_ttl: 60, sweep_interval_minutes: 5 },
      },
      checkpointer: {
        ttl: { strategy: 'keep_latest', default_ttl: 60, sweep_interval_minutes: 5, sweep_limit: 10 },
        serde: { pickle_fallback: false },
      },
      auth: {
        path: './auth.ts:auth',
        disable_studio_auth: true,
        openapi: { securitySchemes: { key: { type: 'apiKey' } }, security: [{ key: [] }] },
        cache: { cache_keys: ['x-user'], ttl_seconds: 60, max_size: 100 },
      },
      encryption: { path: './encryption.ts:encryption' },
      http: {
        app: './app.ts:app',
        disable_assistants: false,
        disable_threads: false,
        disable_runs: false,
        disable_store: false,
        disable_mcp: true,
        disable_a2a: true,
        disable_meta: false,
        disable_ui: true,
        disable_webhooks: true,
        cors: {
          allow_origins: ['https://app.example.test'],
          allow_methods: ['GET'],
          allow_headers: ['x-api-key'],
          allow_credentials: true,
          allow_origin_regex: '^https://.*[.]example[.]test$',
          expose_headers: ['x-more'],
          max_age: 600,
        },
        configurable_headers: { includes: ['x-user-*'], excludes: ['x-secret'] },
        logging_headers: { includes: null, excludes: ['cookie'], include: ['accept'], exclude: ['x-user-id'] },
        middleware_order: 'auth_first',
        enable_custom_route_auth: true,
        mount_prefix: '/api',
      },
      webhooks: {
        headers: { 'X-From': 'agent', Authorization: 'Bearer ${{ env.LG_WEBHOOK_TOKEN }}' },
        env_prefix: 'LG_WEBHOOK_',
        url: {
          allowed_domains: ['*.example.test'],
          require_https: true,
          allowed_ports: [443, 8443],
          disable_loopback: true,
          max_url_length: 2048,
        },
      },
      ui: { card: './card.tsx' },
      ui_config: { shared: [] },
    });
    const read = readGraphConfig(text, 'langgraph.json');
    expect(read).toMatchObject({ ok: true });
    expect(read.ok && [...read.warnings, ...read.refused].filter(({ message }) => /not known/.test(message))).toEqual(
      [],
    );
  });

  test('may be called anything and is strict JSON all the same', () => {
    expect(readGraphConfig(`{${graphs}} // mine`, 'graphs.conf')).toMatchObject({
      ok: false,
      problems: [{ file: 'graphs.conf', line: 1 }],
    });
  });

  test('passes keys that resemble no known one, with a warning', () => {
    const read = readGraphConfig(
      `{\n  ${graphs},\n  "quantum_flux": 1,\n  "http": {"teleport": true, "cors": {"moods": 1}},\n  "store": {"ttl": {"half_life": 1}}\n}`,
      'langgraph.json',
    );
    expect(read.ok && read.warnings.map(formatProblem)).toEqual([
      'langgraph.json:3:3: `quantum_flux` is not known here and has no effect',
      'langgraph.json:4:12: `http.teleport` is not known here and has no effect',
      'langgraph.json:4:39: `http.cors.moods` is not known here and has no effect',
      'langgraph.json:5:21: `store.ttl.half_life` is not known here and has no effect',
    ]);
  });
});

describe('a graph configuration file that does not hold', () => {
  test('reports every problem at once, each with its line', () => {
    expect(
      problemsOf(
        [
          '{',
          '  "graphs": {"echo": "./src/graph.ts", "other": {"path": 7}},',
          '  "dependancies": ["."],',
          '  "http": {"disable_webhook": true},',
          '  "webhooks": {"url": {"allowed_ports": [70000], "requires_https": true}, "retries": 3},',
          '  "checkpointer": {"ttl": {"strategy": "forget", "default_ttl": "7 days", "sweep_interval_minute": 5}},',
          '  "store": {"ttl": {"default_ttl": 0}, "index": {"dims": 1.5, "embed": "./embed.ts:embed"}},',
          '  "auth": {"pat": "./auth.ts:auth", "disable_studio_auth": "yes", "roles": []}',
          '}',
        ].join('\n'),
      ),
    ).toEqual([
      'langgraph.json:2:22: `graphs.echo` must be a path and an export, such as `./src/agent.ts:graph`',
      'langgraph.json:2:58: `graphs.other.path` must be text, not a number',
      'langgraph.json:3:3: `dependancies` is not known; did you mean `dependencies`?',
      'langgraph.json:4:12: `http.disable_webhook` is not known; did you mean `disable_webhooks`?',
      'langgraph.json:5:42: `webhooks.url.allowed_ports[0]` must be at most 65535',
      'langgraph.json:5:50: `webhooks.url.requires_https` is not known; did you mean `require_https`?',
      'langgraph.json:5:75: `webhooks.retries` is not known',
      'langgraph.json:6:40: `checkpointer.ttl.strategy` must be one of `delete`, `keep_latest`',
      'langgraph.json:6:65: `checkpointer.ttl.default_ttl` must be a number, not text',
      'langgraph.json:6:75: `checkpointer.ttl.sweep_interval_minute` is not known; did you mean `sweep_interval_minutes`?',
      'langgraph.json:7:36: `store.ttl.default_ttl` must be more than 0',
      'langgraph.json:7:58: `store.index.dims` must be a whole number, not a number',
      'langgraph.json:8:12: `auth.pat` is not known; did you mean `path`?',
      'langgraph.json:8:60: `auth.disable_studio_auth` must be `true` or `false`, not text',
      'langgraph.json:8:67: `auth.roles` is not known',
    ]);
  });

  test('reports two webhook headers whose names differ only in case', () => {
    const headers = '"webhooks": {"headers": {\n"X-A": "1",\n"x-b": "2",\n"x-a": "3"}}';
    expect(problemsOf(`{${graphs},\n${headers}}`)).toEqual([
      'langgraph.json:3:8: `webhooks.headers.X-A` is the same header as x-a, since case does not count in their names: write it once',
      'langgraph.json:5:8: `webhooks.headers.x-a` is the same header as X-A, since case does not count in their names: write it once',
    ]);
  });

  test.each([
    ['an empty file', '', ' this is not JSON: it ends too early'],
    ['no graphs', '{"env": ".env"}', '1:1: `graphs` is missing'],
    ['an empty list of graphs', '{"graphs": {}}', '1:12: `graphs` must name at least one graph'],
    ['a comma too many', `{${graphs},}`, '1:44: this is not JSON: no comma may stand before a closing bracket'],
    [
      'a prefix that is no path',
      `{${graphs}, "http": {"mount_prefix": "api"}}`,
      '1:71: `http.mount_prefix` must be a path that begins with `/`, such as `/api`',
    ],
    ['a list', '[]', ' this must be a map, not a list'],
    ['a text that ends too early', `{${graphs}`, '1:44: this is not JSON: something else belongs here'],
  ])('refuses %s', (_, text, problem) => {
    expect(problemsOf(text)).toEqual([`langgraph.json:${problem}`]);
  });
});
