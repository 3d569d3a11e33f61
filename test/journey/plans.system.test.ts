// A deploy that is bound to a plan applies it once, and nothing else.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newApiKey } from '../../src/contract/control/api-key.ts';
import { runCli, runHere, type CliEnd } from '../cli/run-cli.ts';
import { linkPackages, linkScript } from '../installed-packages.ts';
import { openJourneyFixture, type JourneyFixture } from './fixture.ts';

let fixture: JourneyFixture;
let folder = '';

beforeAll(async () => {
  fixture = await openJourneyFixture();
  folder = await mkdtemp(join(tmpdir(), 'landfall-plans-'));
  await cp(join(import.meta.dirname, 'agents/talker'), folder, { recursive: true });
  await writeFile(join(folder, 'link.mjs'), linkScript);
});
afterAll(async () => {
  await fixture?.close();
  await rm(folder, { recursive: true, force: true });
});

const options = `--name planned --source-dir . --graph-config-path langgraph.json --poll-seconds 0.2 --secrets PIN`
  .split(' ')
  .concat('--install-command', linkPackages);

const env = (pin: string) => ({
  LANDFALL_BASE_URL: fixture.service.url,
  LANDFALL_API_KEY: fixture.service.apiKey,
  PIN: pin,
});

const run = (command: string, more: readonly string[] = ['--plan-file', 'plan.json'], pin = '1234'): Promise<CliEnd> =>
  runHere([command, ...options, ...more, '--json'], { cwd: folder, env: env(pin) });

async function edit(from: string, to: string): Promise<void> {
  const path = join(folder, 'graph.ts');
  await writeFile(path, (await readFile(path, 'utf8')).replaceAll(`'${from}'`, `'${to}'`));
}

/** The ids of all revisions, newest first. */
async function revisions(): Promise<string[]> {
  const { resources } = await fixture.control.listDeployments({ name: 'planned' });
  const [deployment] = resources;
  return deployment ? (await fixture.revisions(deployment.id)).map(({ id }) => id) : [];
}

/** How a run ended, from its JSON. */
const outcomeOf = ({ out }: CliEnd): unknown => JSON.parse(out);

test('a plan creates the deployment once', async () => {
  expect(outcomeOf(await run('plan'))).toMatchObject({
    outcome: 'planned',
    plan: 'create',
    notes: ['the plan was written to plan.json'],
  });
  expect(outcomeOf(await run('deploy'))).toMatchObject({ outcome: 'deployed', plan: 'create' });
  const made = await revisions();
  expect(outcomeOf(await run('deploy'))).toMatchObject({ outcome: 'unchanged', changed: false });
  expect(await revisions()).toEqual(made);
});

test('nothing is sent where the folder or a secret changed since the plan', async () => {
  await edit('first', 'second');
  expect(outcomeOf(await run('plan'))).toMatchObject({ outcome: 'planned', plan: 'patch' });
  await edit('second', 'third');
  const made = await revisions();
  expect(outcomeOf(await run('deploy'))).toMatchObject({
    outcome: 'refused',
    changed: false,
    obstacles: [{ field: 'source-dir' }],
  });
  await edit('third', 'second');
  expect(outcomeOf(await run('deploy', undefined, '9999'))).toMatchObject({
    outcome: 'refused',
    obstacles: [{ field: 'PIN' }],
  });
  expect(await revisions()).toEqual(made);
  expect(await readFile(join(folder, 'plan.json'), 'utf8')).not.toMatch(/1234|9999/);
});

test('a plan that was applied by a killed run is applied once', async () => {
  const made = await revisions();
  const killed = await runCli(['deploy', ...options, '--plan-file', 'plan.json'], {
    cwd: folder,
    env: env('1234'),
    onOutput: (text, send) => {
      if (text.includes(': patched')) send('SIGKILL');
    },
  });
  expect(killed.code).toBe(null);
  expect(outcomeOf(await run('deploy'))).toMatchObject({ passes: true });
  expect(outcomeOf(await run('deploy'))).toMatchObject({ outcome: 'unchanged', changed: false });
  expect((await revisions()).slice(1)).toEqual(made);
});

test('nothing is sent where somebody else deployed since the plan', async () => {
  await edit('second', 'third');
  expect(outcomeOf(await run('plan'))).toMatchObject({ outcome: 'planned', plan: 'patch' });
  await edit('third', 'fourth');
  expect(outcomeOf(await run('deploy', []))).toMatchObject({ outcome: 'deployed' });
  const made = await revisions();
  await edit('fourth', 'third');
  expect(outcomeOf(await run('deploy'))).toMatchObject({ outcome: 'refused', changed: false });
  expect(await revisions()).toEqual(made);
});

test('a plan of a key that may only read is applied by one that may deploy', async () => {
  const { url, apiKey } = fixture.service;
  const response = await fetch(`${url}/v1/api-keys`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'planner', scopes: ['read'] }),
  });
  const { key } = newApiKey.parse(await response.json());
  await edit('third', 'fifth');
  const planned = await runHere(['plan', ...options, '--plan-file', 'plan.json', '--json'], {
    cwd: folder,
    env: { ...env('1234'), LANDFALL_API_KEY: key ?? '' },
  });
  expect(outcomeOf(planned)).toMatchObject({ outcome: 'planned', plan: 'patch' });
  const applied = await run('deploy');
  expect(outcomeOf(applied)).toMatchObject({ outcome: 'deployed' });
  expect(applied.err).toContain('the values of secrets were not compared');
});

test.each([
  ['absent', 'none.json', 'is not there'],
  ['no plan', 'link.mjs', 'is not a plan'],
])('a plan file that is %s is refused', async (_, file, message) => {
  const { code, err } = await run('deploy', ['--plan-file', file]);
  expect(code).toBe(2);
  expect(err).toContain(message);
});
