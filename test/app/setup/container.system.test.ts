import { generateKeyPairSync } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { envLines } from '../../../app/setup/setup-app.ts';
import { variableNames } from '../../../app/settings/read-settings.ts';
import { startTestPostgres, type TestPostgres } from '../../kit/postgres/postgres.ts';
import { readDockerfile, type Dockerfile } from './dockerfile.ts';
import { endWithTest } from '../../child-process.ts';
import { describePython } from '../../python/needs-python.ts';

const command = z.array(z.string()).min(1);
const root = resolve(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const dockerfile: Dockerfile = readDockerfile(read('Dockerfile'));
const service = z.looseObject({
  environment: z.record(z.string(), z.union([z.string(), z.number()])),
  image: z.string().optional(),
  env_file: z.string().optional(),
  ports: z.array(z.string()).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).optional(),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
});
const compose = z
  .object({ services: z.object({ app: service, postgres: service }) })
  .loose()
  .parse(parse(read('compose.yaml')));
const lockFile = z
  .object({
    packages: z.record(z.string(), z.looseObject({ dev: z.boolean().optional(), devOptional: z.boolean().optional() })),
  })
  .parse(JSON.parse(read('package-lock.json')));

let folder: string;
let postgres: TestPostgres;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'landfall-container-'));
  postgres = await startTestPostgres();
  fillFolder();
});
afterAll(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true });
});

/**
 * Makes the folder as the image has it: what is copied, and the packages that an install without those for development
 * makes.
 */
function fillFolder(): void {
  for (const path of dockerfile.copied) cpSync(join(root, path), join(folder, path), { recursive: true });
  for (const [path, { dev, devOptional }] of Object.entries(lockFile.packages)) {
    // One inside of another package comes with it.
    if (path === '' || dev || devOptional || path.includes('/node_modules/') || !existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(root, path), join(folder, path));
  }
}

const { privateKey: pem } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});
const made = {
  id: 1,
  slug: 'a',
  name: 'A',
  html_url: 'https://github.com/apps/a',
  pem,
  webhook_secret: 'w'.repeat(32),
};
const settings = Object.fromEntries(
  `${envLines(made, 'https://app.acme.test', 'http://127.0.0.1:9')}LANDFALL_BASE_URL=http://127.0.0.1:9\nLANDFALL_API_KEY=a-key\n`
    .split('\n')
    .filter((line) => line.includes('=') && !line.startsWith('#'))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const),
);

/** Runs a command of the image, with node as it has it. */
function run([program, ...args]: readonly string[], env: Record<string, string>): ChildProcess {
  expect(program).toBe('node');
  return endWithTest(spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

const healthOf = async (port: string): Promise<number | null> => {
  const [code] = await once(run(dockerfile.healthcheck, { PORT: port }), 'close');
  return z.number().nullable().parse(code);
};

test('the App starts in the image, says that it is ready, and exits on a signal', async () => {
  const env = { ...dockerfile.env, ...settings, DATABASE_URL: postgres.url, HOST: '127.0.0.1', PORT: '0' };
  const app = run(dockerfile.cmd, env);
  const ended = once(app, 'close');
  if (!app.stdout) throw new Error('it has no standard output');
  const lines: string[] = [];
  let port = '';
  for await (const line of createInterface({ input: app.stdout })) {
    lines.push(line);
    port = /listens at http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1] ?? '';
    if (port) break;
  }
  if (port === '') throw new Error(`it did not listen:\n${lines.join('\n')}`);
  expect(await healthOf(port)).toBe(0);
  const [, operator = ''] = /`docker compose exec app (.+?) app jobs`/.exec(read('docs/app.md')) ?? [];
  const jobs = run([...operator.split(' '), 'app', 'jobs'], env);
  const reported = jobs.stdout ? await text(jobs.stdout) : '';
  expect(reported).toBe('No failing jobs.\n');
  app.kill(dockerfile.stopSignal);
  expect((await ended)[0]).toBe(0);
  expect(await healthOf(port)).toBe(1);
});

describePython('an agent in Python', (python) => {
  test('runs in an image made from this one, as docs/kubernetes.md makes it', async () => {
    const [, made = ''] = /```dockerfile\n([\s\S]*?)```/.exec(read('docs/kubernetes.md')) ?? [];
    const cmd = command.parse(JSON.parse(/^CMD (.+)$/m.exec(made)?.[1] ?? '[]'));
    const [, variables = ''] = /^ENV (.+)$/m.exec(made) ?? [];
    const paths = Object.fromEntries(variables.split(' ').map((pair) => pair.split('=')));
    // What is in the image at these paths is here elsewhere.
    const example = join(root, 'examples/python-support-agent');
    expect(paths).toEqual({
      LANDFALL_PYTHON: '/agent/.venv/bin/python',
      LANDFALL_GRAPH_CONFIG: '/agent/langgraph.json',
    });
    const env = {
      ...dockerfile.env,
      LANDFALL_PYTHON: python,
      LANDFALL_GRAPH_CONFIG: join(example, 'langgraph.json'),
      DATABASE_URI: postgres.url,
      HOST: '127.0.0.1',
      PORT: '0',
    };
    const agent = run(cmd, env);
    const ended = once(agent, 'close');
    if (!agent.stdout) throw new Error('it has no standard output');
    const lines: string[] = [];
    let port = '';
    for await (const line of createInterface({ input: agent.stdout })) {
      lines.push(line);
      port = /"event":"listening","port":(\d+)/.exec(line)?.[1] ?? '';
      if (port) break;
    }
    if (port === '') throw new Error(`it did not listen:\n${lines.join('\n')}`);
    const response = await fetch(`http://127.0.0.1:${port}/runs/wait`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ assistant_id: 'support', input: { messages: [{ role: 'user', content: 'A refund?' }] } }),
    });
    expect(await response.json()).toMatchObject({ topic: 'refund' });
    agent.kill(dockerfile.stopSignal);
    expect((await ended)[0]).toBe(0);
  });
});

describe('the image', () => {
  test('has the Node that the Action runs on', () => {
    expect(dockerfile.from).toMatch(/^node:24-/);
    expect(process.versions.node).toMatch(/^24\./);
  });

  test('has Debian’s Python and what makes environments of it', () => {
    expect(read('Dockerfile')).toMatch(/apt-get install -y --no-install-recommends python3 python3-venv /);
  });

  test('has the script that npm runs as it installs', () => {
    expect(dockerfile.copied).toContain('scripts/ready.mjs');
  });

  test('copies what is there, and sends the builder nothing else', () => {
    const allowed = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    expect(dockerfile.copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(allowed.toSorted()).toEqual(dockerfile.copied.toSorted());
    expect(read('.dockerignore')).toMatch(/^\*$/m);
  });

  test('runs as an ordinary user, and holds no secret setting', () => {
    expect(dockerfile.user).toBe('node');
    expect(Object.keys(dockerfile.env).toSorted()).toEqual(['HOST', 'NODE_ENV', 'PORT']);
  });
});

describe('the compose file', () => {
  const { app, postgres: database } = compose.services;

  test('sets nothing that the App does not know', () => {
    expect(Object.keys(app.environment).filter((name) => !variableNames.includes(name))).toEqual([]);
    expect(app.env_file).toBe('.env');
  });

  test('gives the App the database that it starts, once that is well', () => {
    const url = new URL(String(app.environment['DATABASE_URL']).replace(/\$\{POSTGRES_PASSWORD:[^}]*\}/, 'secret'));
    expect(url).toMatchObject({ protocol: 'postgres:', hostname: 'postgres', port: '5432', password: 'secret' });
    expect(url.username).toBe(database.environment['POSTGRES_USER']);
    expect(url.pathname).toBe(`/${database.environment['POSTGRES_DB']}`);
    expect(app.depends_on?.['postgres']?.condition).toBe('service_healthy');
    expect(database.healthcheck?.test).toContain('pg_isready');
  });

  test('requires a password, and has no default', () => {
    expect(database.environment['POSTGRES_PASSWORD']).toMatch(/^\$\{POSTGRES_PASSWORD:\?/);
  });

  test('lets only this machine reach the App', () => {
    expect(app.ports).toEqual([`127.0.0.1:3000:${dockerfile.env['PORT']}`]);
  });
});
