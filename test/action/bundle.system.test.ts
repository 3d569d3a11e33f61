import { cp, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runStep } from '../../src/demo/runner.ts';

const dist = join(import.meta.dirname, '../../dist');
const names = await readdir(dist);
const chunks = new Map(
  await Promise.all(
    names
      .filter((name) => name.endsWith('.js'))
      .map(async (name) => [name, await readFile(join(dist, name), 'utf8')] as const),
  ),
);

/** A word that undici holds once, and that no minifier changes. */
const undici = 'undici.error.UND_ERR_HEADERS_TIMEOUT';
const copiesIn = (text: string): number => text.split(undici).length - 1;

/** The chunks that are loaded with this one, whatever the run needs. */
function loadedWith(name: string, met = new Set<string>()): Set<string> {
  if (met.has(name)) return met;
  met.add(name);
  expect(names).toContain(name);
  for (const [, imported = ''] of (chunks.get(name) ?? '').matchAll(/(?:from|import)\s*["'`]\.\/([\w-]+\.js)["'`]/g)) {
    loadedWith(imported, met);
  }
  return met;
}

test('all of it is at most 1,000,000 bytes', async () => {
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(dist, name))).size));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(1_000_000);
});

test('there is one undici in it', async () => {
  const own = join(import.meta.dirname, '../../node_modules/undici/lib/core/errors.js');
  expect(copiesIn(await readFile(own, 'utf8'))).toBe(1);
  expect(copiesIn([...chunks.values()].join('\n'))).toBe(1);
});

test('the clients are loaded late: a fork without secrets needs none of them', () => {
  const withoutClients = [...loadedWith('index.js'), ...loadedWith('read-step.js')];
  expect(withoutClients.map((name) => copiesIn(chunks.get(name) ?? ''))).not.toContain(1);
  expect([...loadedWith('control.js')].map((name) => copiesIn(chunks.get(name) ?? ''))).toContain(1);
  // Where merging them would make a circle, modules that are shared with late chunks lie beside it.
  const beside = [...loadedWith('index.js')]
    .filter((name) => name !== 'index.js')
    .map((name) => chunks.get(name) ?? '');
  expect(beside.join('').length).toBeLessThan(2_000);
});

test('it runs as a copy in a repository whose own scripts are CommonJS', async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'landfall-copy-'));
  try {
    const copy = join(workspace, '.github/actions/landfall/dist');
    await cp(dist, copy, { recursive: true });
    await writeFile(join(workspace, 'package.json'), '{ "type": "commonjs" }');
    const step = await runStep({
      main: join(copy, 'index.js'),
      workspace,
      inputs: { 'base-url': 'https://host.test' },
    });
    expect(step).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused' } });
    expect(step.log).not.toContain('Warning');
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
});

test('it says at once which Node it needs, where that is not the one of the runner', async () => {
  const older = `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'20.20.2'}})`;
  const step = await runStep({
    main: join(dist, 'index.js'),
    workspace: tmpdir(),
    inputs: { 'base-url': 'https://host.test' },
    env: { NODE_OPTIONS: `--import=${older}` },
  });
  expect(step).toMatchObject({ exitCode: 1, outputs: {} });
  expect(step.log).toMatch(/^::error::Landfall needs Node 24 or later, and this is v\S+\. Start it with that Node\.$/);
});
