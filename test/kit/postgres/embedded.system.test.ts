import { loggerTo } from '../../logger.ts';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../../src/kit/postgres/embedded.ts';
import type { EmbeddedPostgres, EmbeddedPostgresOptions } from '../../../src/kit/postgres/embedded.ts';
import { processBirth } from '../../../src/kit/postgres/embedded/process-identity.ts';

// Only root can run these.
const asRoot = process.getuid?.() === 0 ? ['root'] : [];

let folder: string;
let dataDir: string;
const servers: EmbeddedPostgres[] = [];
const processes: ChildProcess[] = [];
const logged: string[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'landfall embedded ü-'));
  chmodSync(folder, 0o711);
  // Spaces, letters beyond ASCII, and longer than a socket path may be.
  dataDir = join(folder, `Döner Kebap ${'lang '.repeat(20).trim()}`, 'postgres');
});
afterEach(async () => {
  await Promise.all(processes.splice(0).map(end));
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  logged.splice(0);
});
afterAll(async () => {
  // A new start ends what a killed process left running, as it would for a person.
  await (await start()).stop();
  rmSync(folder, { recursive: true, force: true });
});

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, log: loggerTo((message) => logged.push(message)), ...options });
  servers.push(server);
  return server;
}

interface Started {
  child: ChildProcess;
  server: number;
  url: string;
  /** The lines printed after the first one. */
  lines: string[];
}

async function startProcess(what: string, env: NodeJS.ProcessEnv = process.env): Promise<Started> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'embedded-process.ts'), dataDir, what], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  });
  processes.push(child);
  const complaints: string[] = [];
  child.stderr.on('data', (said: Buffer) => complaints.push(said.toString()));
  const lines: string[] = [];
  const first = await new Promise<string>((resolve, reject) => {
    const reader = createInterface({ input: child.stdout });
    reader.once('line', (line) => {
      reader.on('line', (more) => lines.push(more));
      resolve(line);
    });
    child.once('exit', (code) => reject(new Error(`It ended with ${code}: ${complaints.join('')}`)));
  });
  const { server, url }: { server: number; url: string } = JSON.parse(first);
  return { child, server, url, lines };
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

async function until(comesTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 120_000; !(await comesTrue());) {
    if (Date.now() > deadline) throw new Error('It did not come to pass in time.');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('an embedded Postgres', () => {
  test('keeps its data and address across a restart', async () => {
    const first = await start();
    await query(first.url, "create table kept as select 'grüße' as word");
    await first.stop();
    await first.stop();
    expect(processBirth(first.pid)).toBeUndefined();
    const second = await start();
    expect(second.url).toBe(first.url);
    expect(await query(second.url, 'select word from kept')).toEqual([{ word: 'grüße' }]);
  });

  test('syncs to the disk, uses UTF-8, and listens on this machine alone', async () => {
    const { url } = await start();
    const settings = await query(
      url,
      `select name, setting from pg_settings
       where name in ('fsync', 'synchronous_commit', 'listen_addresses', 'unix_socket_directories', 'server_encoding', 'max_connections', 'password_encryption')
       order by name`,
    );
    expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({
      fsync: 'on',
      listen_addresses: '127.0.0.1',
      max_connections: '100',
      password_encryption: 'scram-sha-256',
      server_encoding: 'UTF8',
      synchronous_commit: 'on',
      unix_socket_directories: '',
    });
    expect(await query(url, "select lower('ÄÖ') as lower, 'a' < 'B' as by_dictionary")).toEqual([
      { lower: 'äö', by_dictionary: false },
    ]);
  });

  test('requires its password, which only its owner can read', async () => {
    const { url, dataDir: home } = await start();
    const wrong = new URL(url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'select')).rejects.toThrow('password authentication failed');
    expect(statSync(join(home, 'password')).mode & 0o777).toBe(0o600);
    expect(decodeURIComponent(new URL(url).password)).toBe(readFileSync(join(home, 'password'), 'utf8'));
  });

  test('ignores the locale and the PG variables of its parent', async () => {
    const { url } = await startProcess('hold', {
      PATH: process.env['PATH'],
      LANG: 'tr_TR.ISO-8859-9',
      LC_ALL: 'xx_YY.nonsense',
      TZ: 'Nowhere/Never',
      PGDATA: '/nonexistent',
      PGPORT: '1',
      PGHOST: 'nowhere.invalid',
      PGSSLMODE: 'verify-full',
    });
    expect(await query(url, 'show timezone')).toEqual([{ TimeZone: 'UTC' }]);
  });

  test('that does not start reports the end of its log, and releases the folder', async () => {
    const failing = start({ settings: { shared_buffers: 'plenty' } });
    await expect(failing).rejects.toThrow('invalid value for parameter "shared_buffers": "plenty"');
    await start();
  });

  test('chooses another port when the former one is taken', async () => {
    const before = await start();
    await before.stop();
    const squatter = createServer().listen(Number(new URL(before.url).port), '127.0.0.1');
    await once(squatter, 'listening');
    try {
      const after = await start();
      expect(new URL(after.url).port).not.toBe(new URL(before.url).port);
      expect(await query(after.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    } finally {
      squatter.close();
    }
  });

  test('starts again if initdb was interrupted', async () => {
    const half = join(folder, 'half');
    mkdirSync(join(half, 'cluster-making-0123', 'cluster'), { recursive: true });
    chmodSync(half, 0o711);
    writeFileSync(join(half, 'password'), 'of a database that never was');
    const { url } = await start({ dataDir: half, settings: { fsync: 'off' } });
    expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
    expect(readdirSync(half).filter((entry) => entry.startsWith('cluster-making'))).toEqual([]);
  });
});

describe('a second process on the same folder', () => {
  test('is rejected with the folder and the process', async () => {
    const { child } = await startProcess('hold');
    await expect(start()).rejects.toThrow(
      `The data folder ${dataDir} is in use by process ${child.pid}. Stop that process first, or choose another data folder.`,
    );
  });

  test('is rejected also when it is the same process', async () => {
    await start();
    await expect(start()).rejects.toThrow(`is in use by process ${process.pid}.`);
  });

  test('is rejected for all but one when many start at once', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => startProcess('hold')));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
    for (const reason of refused) expect(reason).toContain('is in use by process');
  });
});

describe('a process that crashes', () => {
  test('loses nothing acknowledged when killed while it writes, and can be restarted', async () => {
    const { child, server, lines } = await startProcess('write');
    await until(() => lines.length > 50);
    await end(child);
    expect(processBirth(server)).toBeDefined();
    const acknowledged = Math.max(...lines.map(Number));
    const next = await start();
    expect(processBirth(server)).toBeUndefined();
    expect(logged.join('\n')).toContain(`A Postgres (process ${server}) was left on this data folder`);
    const [row] = await query(next.url, 'select count(*)::int as rows, max(n) as last from written');
    expect(row?.['rows']).toBe(row?.['last']);
    expect(row?.['last']).toBeGreaterThanOrEqual(acknowledged);
  });

  test('recovers after it was killed together with its server', async () => {
    const { child, server, lines } = await startProcess('write');
    await until(() => lines.length > 10);
    process.kill(server, 'SIGKILL');
    await end(child);
    const next = await start();
    const [row] = await query(next.url, 'select count(*)::int as rows from written');
    expect(row?.['rows']).toBeGreaterThanOrEqual(10);
  });

  test('stops its server on an uncaught error', async () => {
    const { child, server } = await startProcess('throw');
    await once(child, 'exit');
    await until(() => processBirth(server) === undefined);
    const { url } = await start();
    expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
    expect(logged.join('\n')).not.toContain('was left on this data folder');
  });

  test('leaves a process alone that reused its id', async () => {
    const before = await start();
    await before.stop();
    const bystander = spawn('sleep', ['60'], { stdio: 'ignore' });
    processes.push(bystander);
    await once(bystander, 'spawn');
    const stale = join(before.dataDir, 'cluster', 'postmaster.pid');
    writeFileSync(stale, `${bystander.pid}\n${join(before.dataDir, 'cluster')}\n1700000000\n5432\n\n127.0.0.1\n`);
    const after = await start();
    expect(await query(after.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    expect(processBirth(bystander.pid ?? 0)).toBeDefined();
  });
});

describe('a server that crashes', () => {
  test('is restarted at the same address', async () => {
    const server = await start();
    await query(server.url, 'create table if not exists outlives as select 1 as n');
    const killed = server.pid;
    process.kill(killed, 'SIGKILL');
    await until(() => server.pid !== killed);
    await until(() =>
      query(server.url, 'select n from outlives').then(
        (rows) => rows.length === 1,
        () => false,
      ),
    );
    expect(logged.join('\n')).toContain('ended by itself (signal SIGKILL); it is started again.');
  });
});

describe.each(asRoot)('as %s', () => {
  test('the server runs as another user, in a process group of its own', async () => {
    const { pid } = await start();
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\s+65534\s+65534\s+65534\s+65534$/m);
    expect(status).toMatch(/^Groups:\s*$/m);
    const [, , group] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    expect(Number(group)).toBe(pid);
  });
});
