import { describe, expect, test } from 'vitest';
import { readGraphConfig } from '../../src/graph-config/read.ts';
import { formatProblem } from '../../src/located/problem.ts';

const graphs = '"graphs": {"echo": "./src/graph.ts:graph"}';

/** The problems of a text, as a person sees them. */
function problemsOf(text: string): string[] {
  const read = readGraphConfig(text, 'langgraph.json');
  return read.ok ? [] : read.problems.map(formatProblem);
}

describe('a graph configuration file that holds', () => {
  test('[agent.graphs.addressed-by-id] names each graph by its id', () => {
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
      store: { ttl: { default_ttl: 60 } },
      checkpointer: { ttl: { default_ttl: 60 } },
      auth: { path: './auth.ts:auth' },
      encryption: { path: './encryption.ts:encryption' },
      http: { disable_webhooks: true, cors: { allow_origins: ['*'] } },
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
    expect(readGraphConfig(text, 'langgraph.json')).toMatchObject({ ok: true, warnings: [] });
  });

  test('may be called anything and is strict JSON all the same', () => {
    expect(readGraphConfig(`{${graphs}} // mine`, 'graphs.conf')).toMatchObject({
      ok: false,
      problems: [{ file: 'graphs.conf', line: 1 }],
    });
  });

  test('passes keys that resemble no known one, with a warning', () => {
    const read = readGraphConfig(
      `{\n  ${graphs},\n  "quantum_flux": 1,\n  "http": {"teleport": true}\n}`,
      'langgraph.json',
    );
    expect(read.ok && read.warnings.map(formatProblem)).toEqual([
      'langgraph.json:3:3: `quantum_flux` is not known here and has no effect',
      'langgraph.json:4:12: `http.teleport` is not known here and has no effect',
    ]);
  });
});

describe('a graph configuration file that does not hold', () => {
  test('tells every problem at once, each with its line', () => {
    expect(
      problemsOf(
        [
          '{',
          '  "graphs": {"echo": "./src/graph.ts", "other": {"path": 7}},',
          '  "dependancies": ["."],',
          '  "http": {"disable_webhook": true},',
          '  "webhooks": {"url": {"allowed_ports": [70000], "requires_https": true}, "retries": 3}',
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
    ]);
  });

  test.each([
    ['an empty file', '', '1:1: this is not JSON: it ends too early'],
    ['no graphs', '{"env": ".env"}', '1:1: `graphs` is missing'],
    ['an empty list of graphs', '{"graphs": {}}', '1:12: `graphs` must name at least one graph'],
    ['a comma too many', `{${graphs},}`, '1:44: this is not JSON: no comma may stand before a closing bracket'],
    ['a list', '[]', '1:1: this must be a map, not a list'],
    ['a text that ends too early', `{${graphs}`, '1:44: this is not JSON: something else belongs here'],
  ])('refuses %s', (_, text, problem) => {
    expect(problemsOf(text)).toEqual([`langgraph.json:${problem}`]);
  });
});
