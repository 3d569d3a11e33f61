import { silentLogger } from '../../src/kit/logger.ts';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { openApiDocument } from '../../src/services/agent/api/document.ts';
import { exitCodes } from '../../src/cli/problems.ts';
import { createApp } from '../../src/services/control/api/app.ts';
import { readLocalCommand, usualPort } from '../../src/services/control/local-command.ts';
import { kinds } from '../../src/services/control/kubernetes/manifest.ts';
import { readGraphConfig } from '../../src/agent-folder/graph-config/read.ts';
import { listenerUsage, readListenerCommand } from '../../src/services/listener/listener-command.ts';
import { toResultJson } from '../../src/deploy/words/result-json.ts';
import { filesBelow, pages } from '../docs-tables.ts';
import { root, runHere } from './run-cli.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const sources = ['bin/landfall.cjs', ...filesBelow('src', /\.ts$/), ...filesBelow('app', /\.ts$/)].map(read).join('\n');

/** The first cells of a table's rows. */
const firstCells = (text: string): string[] => [...text.matchAll(/^\| `([^`]+)`/gm)].map(([, cell = '']) => cell);

const section = (page: string, title: string): string =>
  new RegExp(`^## ${title}$([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, 'm').exec(read(page))?.[1] ?? '';

describe('workflows of the documentation', () => {
  const workflows = read('README.md') + read('docs/action.md');

  test.each([
    ['api-key', '${{ secrets.LANDFALL_API_KEY }}', 4],
    // One of them deploys without a key.
    ['base-url', '${{ vars.LANDFALL_BASE_URL }}', 5],
  ])('get %s from the same place', (input, place, count) => {
    const places = [...workflows.matchAll(new RegExp(`^ +${input}: (.+)$`, 'gm'))].map(([, from]) => from);
    expect(places).toEqual(Array.from({ length: count }, () => place));
  });
});

describe('keys and secrets', () => {
  const texts = pages.map(read);

  test('are in no argument of a documented command, since the process list shows those', () => {
    const taught = [...texts, sources].join('\n');
    expect(taught).not.toMatch(/-H ["'](?:x-api-key|authorization):/i);
    expect(taught).not.toMatch(/--from-literal/);
    const commands = texts.flatMap((text) =>
      [...text.matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block),
    );
    expect(commands.length).toBeGreaterThan(20);
    expect(commands.filter((block) => /--api-key[ =]|-d '[^']*"secrets": \[ \{/.test(block))).toEqual([]);
  });

  test.each(['services', 'agents', 'kubernetes'])('reach curl by a pipe in docs/%s.md', (page) => {
    const [ask = ''] = /^ask\(\) .*$/m.exec(read(`docs/${page}.md`)) ?? [];
    const curl = 'curl() { echo "$*"; echo "[$(cat)]"; }';
    const env = { PATH: process.env.PATH, KEY: 'lf_canary', LANDFALL_API_KEY: 'lf_canary' };
    const script = `${curl}\n${ask}\nask http://control.test -d '{}'`;
    expect(execFileSync('/bin/sh', ['-c', script], { env, encoding: 'utf8' })).toBe(
      '-sS -H @- -H Content-Type: application/json http://control.test -d {}\n[X-Api-Key: lf_canary]\n',
    );
  });
});

describe('docs/threats.md', () => {
  const page = read('docs/threats.md');
  const drawn = [...(/^```\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '').matchAll(/\bT\d+\b/g)].map(([arrow]) => arrow);
  const parts = page.split(/^## (?=T\d)/m).slice(1);
  const arrows = parts.map((part) => /^T\d+/.exec(part)?.[0] ?? '');
  const rows = parts.flatMap((part, at) =>
    [...part.matchAll(/^\| (?!holds |-)(.*) \|$/gm)].map(([, row = '']) => [arrows[at] ?? '', row] as const),
  );

  test('has a table for every arrow of the diagram', () => {
    expect(new Set(drawn)).toEqual(new Set(arrows));
    expect(arrows.filter((arrow) => !rows.some(([of]) => of === arrow))).toEqual([]);
  });

  test('names a test that exists in every row', () => {
    const wrong = rows.filter(([, row]) => {
      const [, file, title] = /`(test\/\S+\.test\.ts)` > (\S.*)$/.exec(row) ?? [];
      return (
        !file || !title || !existsSync(join(root, file)) || !read(file).replaceAll("\\'", "'").includes(title.trim())
      );
    });
    expect(wrong).toEqual([]);
  });
});

describe('docs/design/agent-process.md', () => {
  const page = read('docs/design/agent-process.md');

  test('has every environment variable of the agent server', () => {
    const names = [...read('src/services/agent/environment.ts').matchAll(/^ {2}([A-Z_]+): z/gm)].map(
      ([, name]) => name,
    );
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  test('has every code of a failed start', () => {
    const codes = [...read('src/services/agent/startup-error.ts').matchAll(/^ {2}\| '([a-z-]+)'/gm)].map(
      ([, code]) => code,
    );
    expect(codes.length).toBeGreaterThan(10);
    expect(codes.filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
  });
});

describe('docs/troubleshooting.md', () => {
  const messages = [...read('docs/troubleshooting.md').matchAll(/^### `(.+)`$/gm)].map(([, message = '']) => message);

  test('has enough messages, each once', () => {
    expect(messages.length).toBeGreaterThanOrEqual(15);
    expect(new Set(messages).size).toBe(messages.length);
  });

  test.each(messages)('%s is a message of ours', (message) => {
    expect(sources.replaceAll("\\'", "'")).toContain(message);
  });
});

describe('docs/cli.md', () => {
  test('has every command', async () => {
    const { out } = await runHere(['--help']);
    const commands = [...out.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name = '']) => name);
    const documented = firstCells(read('docs/cli.md')).flatMap((cell) => /^landfall (\w+)/.exec(cell)?.[1] ?? []);
    expect(new Set(documented)).toEqual(new Set(commands.filter((name) => name !== 'help')));
  });

  test('has every exit code', () => {
    const codes = [...section('docs/cli.md', 'How it ends').matchAll(/^\| (\d)/gm)].map(([, code]) => Number(code));
    expect(codes).toEqual(Object.values(exitCodes));
  });

  test('has every field of the result', () => {
    const result = toResultJson({ kind: 'planned', passes: true, reason: '', changed: false, notes: [] });
    for (const field of Object.keys(result))
      expect(section('docs/cli.md', 'The result as JSON')).toContain(`\`${field}\``);
  });
});

describe('docs/services.md', () => {
  const flags = firstCells(read('docs/services.md')).filter((cell) => cell.startsWith('--'));

  test.each(flags)('%s is a flag of the services', (flag) => {
    const [name = '', value] = flag.split(' ');
    const given = {
      P: '0',
      N: '20',
      IP: '192.0.2.1',
      PATH: '/api-host',
      WORD: 'public',
      DIR: 'folder',
      WHICH: 'off',
      WHERE: 'cloud',
      HOST: 'registry.test',
      ID: '1',
      FILE: 'app.pem',
      URL: 'https://github.test/api/v3',
      BY: 'container',
      NAME: 'podman',
      IMAGE: 'node:24',
    }[value ?? ''];
    const beside = name === '--agents-url' ? ['--public-url', 'https://landfall.test'] : [];
    expect(readLocalCommand([...beside, name, ...(given ? [given] : [])])).toMatchObject({ ok: true });
  });

  test('has every flag, and the port', async () => {
    const { readLocalCommand: _, localUsage } = await import('../../src/services/control/local-command.ts');
    const known = [...localUsage.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, name]) => name);
    expect(flags.map((flag) => flag.split(' ')[0])).toEqual(known);
    expect(read('docs/services.md')).toContain(`${usualPort} by default`);
  });

  test('deploys the repository that it creates, below the allowed folder', () => {
    const [, made] = /^cp -R examples\/echo-agent (\S+)$/m.exec(read('docs/services.md')) ?? [];
    const [, allowed] = /^npm run local -- --allow-git (\S+)$/m.exec(read('docs/services.md')) ?? [];
    const [, named] = /"repo_url": "([^"]+)"/.exec(read('docs/services.md')) ?? [];
    expect(made?.startsWith(`${allowed}/`)).toBe(true);
    expect(named?.replace("'$HOME'", '~')).toBe(made);
  });

  test('has the endpoints of the service', () => {
    const app = createApp({
      serviceFor: () => {
        throw new Error('not called');
      },
      findKey: async () => undefined,
      fieldNames: 'contract',
      log: silentLogger,
    });
    const table = /<!-- endpoints -->([\s\S]*?)<!-- \/endpoints -->/.exec(read('docs/services.md'))?.[1] ?? '';
    const documented = [...table.matchAll(/^\| ([A-Z]+) +\| `([^`]+)`/gm)].map(
      ([, method, path]) => `${method} ${path}`,
    );
    // The console has pages of its own: docs/console.md.
    const offered = app.routes
      .filter(({ method, path }) => method !== 'ALL' && path !== '/' && !path.startsWith('/console'))
      .map(({ method, path }) => `${method} ${path}`);
    expect(documented.toSorted()).toEqual([...new Set(offered)].toSorted());
  });
});

describe('the pages of agents', () => {
  const described = Object.entries(openApiDocument().paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`),
    })),
  );
  const text = pages
    .filter((page) => /^docs\/agents?\b/.test(page))
    .map(read)
    .join('\n');
  const commands = [...text.matchAll(/^```\n([\s\S]*?)^```$/gm)]
    .map(([, block = '']) => block.replaceAll('\\\n', ''))
    .flatMap((block) => [...block.matchAll(/(?:ask|as token-of-\w+)[^|>\n]*?\$AGENT([^\s"?]*)([^|>\n]*)/g)])
    .map(([command, path = '', rest = '']) => {
      const method = /-X ([A-Z]+)/.exec(command)?.[1] ?? (/-d\b/.test(rest) ? 'POST' : 'GET');
      return [method, path] as const;
    });

  test('has commands for every group of paths', () => {
    const groups = new Set(commands.map(([, path]) => path.split('/')[1]));
    const known = ['assistants', 'threads', 'runs', 'store', 'a2a', 'mcp', '.well-known', 'info', 'metrics'];
    expect([...groups]).toEqual(expect.arrayContaining(known));
  });

  test('has a valid graph configuration file', () => {
    const [, text = ''] = /langgraph\.json <<'END'\n([\s\S]*?)^END$/m.exec(read('docs/agent-configuration.md')) ?? [];
    expect(readGraphConfig(text, 'langgraph.json')).toMatchObject({ ok: true, warnings: [], refused: [] });
  });

  test.each(commands)('%s %s is an endpoint of the agent server', (method, path) => {
    expect(described.some((each) => each.method === method && each.path.test(path))).toBe(true);
  });
});

const words = z.array(z.string());
/** The checked parts of a manifest that people are to copy. */
const manifest = z.object({
  kind: z.string(),
  rules: z.array(z.object({ apiGroups: words, resources: words, verbs: words })).optional(),
  spec: z
    .object({
      template: z.object({
        spec: z.object({
          containers: z.array(
            z.object({ command: words, env: z.array(z.object({ name: z.string(), value: z.string().optional() })) }),
          ),
        }),
      }),
    })
    .optional(),
});

describe('docs/kubernetes.md', () => {
  const page = read('docs/kubernetes.md');

  test('has every flag of the listener', () => {
    const table = /<!-- listener -->([\s\S]*?)<!-- \/listener -->/.exec(page)?.[1] ?? '';
    const known = [...listenerUsage.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, name]) => name);
    expect(firstCells(table).map((flag) => flag.split(' ')[0])).toEqual(known);
  });

  const manifests = parseAllDocuments(/<!-- manifest -->\s+```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '').map((each) =>
    manifest.parse(each.toJS()),
  );
  const rules = manifests.find(({ kind }) => kind === 'Role')?.rules ?? [];
  const may = (group: string, resource: string): string[] =>
    rules
      .filter(({ apiGroups, resources }) => apiGroups.includes(group) && resources.includes(resource))
      .flatMap(({ verbs }) => verbs)
      .toSorted();

  test.each(Object.values(kinds))('lets the listener do with $plural what it does, and no more', (kind) => {
    const group = kind.apiVersion.includes('/') ? (kind.apiVersion.split('/')[0] ?? '') : '';
    expect(may(group, kind.plural)).toEqual(['create', 'delete', 'get', 'list', 'patch']);
  });

  test('lets it read the status of a rollout', () => {
    const seen = ['pods', 'events', 'pods/log', 'serviceaccounts'].map((resource) => may('', resource).join());
    expect(seen).toEqual(['list', 'list', 'get', 'get']);
    expect(rules.flatMap(({ resources }) => resources)).toHaveLength(Object.keys(kinds).length + 4);
  });

  test('starts the listener with valid arguments and environment', () => {
    const container = manifests.find(({ kind }) => kind === 'Deployment')?.spec?.template.spec.containers[0];
    const [, program = '', ...rest] = container?.command ?? [];
    expect(existsSync(join(root, program))).toBe(true);
    expect(rest).toEqual(['listener']);
    const env = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value ?? 'lf_key']));
    expect(readListenerCommand(rest.slice(1), env)).toMatchObject({
      kind: 'run',
      connection: { apiKey: 'lf_key' },
      listener: { computeId: 'production', namespaces: ['agents'] },
    });
  });
});
