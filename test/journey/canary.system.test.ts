import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import type { StepResult } from '../../src/demo/runner.ts';
import { canaries, canaryWord } from './canary.ts';
import { sings } from './canary-word.ts';
import { linkPackages } from '../installed-packages.ts';
import { openJourneyFixture, root, type JourneyFixture } from './fixture.ts';

const word = canaryWord();
const secrets = canaries(word);

let fixture: JourneyFixture;
let repository: Repository;
/** The deployment that the first step reported. */
let id = '';

beforeAll(async () => {
  fixture = await openJourneyFixture({ ownPostgres: true });
  repository = await fixture.repository('gossip');
});
afterAll(() => fixture?.close());

/** How many encodings of its secrets the agent has. */
const ways = Object.keys(secrets).length * 14;

const asking = (input: string, expected: object, thread = false): object => ({
  name: `${input}${thread ? ' on a thread' : ''}`,
  assistant: 'talk',
  input: { input },
  thread,
  expect: expected,
  attempts: 1,
});

/** Questions answered with every secret, and expectations that fail, so that the answers are reported. */
const smokeTests = JSON.stringify([
  asking('gossip 0', { values: [{ path: '$', equals: {} }] }),
  asking('gossip 2', { status: 'interrupted', nodes: { 'in-order': ['other'] } }, true),
  ...Array.from({ length: ways }, (_, at) => asking(`say ${at}`, { values: [{ path: '$.said', equals: '' }] })),
  asking('fail 0', { values: [{ path: '$.said', matches: '^nothing$' }] }),
  asking('fail 1', { status: 'success' }),
  asking('fail 7', { status: 'success' }, true),
  asking('fail 8', { status: 'interrupted' }, true),
]);

const inputs = {
  secrets: Object.keys(secrets).join('\n'),
  'install-command': `node report.mjs && ${linkPackages}`,
  'build-command': 'node report.mjs',
  'smoke-tests': smokeTests,
  // Its wrong answers are to serve.
  verify: 'after-traffic',
};

/** A step with debug output. */
const step = (more: Record<string, string> = {}): Promise<StepResult> =>
  fixture.step(repository, { inputs: { ...inputs, ...more }, env: { ...secrets, RUNNER_DEBUG: '1' } });

/** The lines that contain the canary, redacted, so that a failure shows the place and not the secret. */
const singing = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .filter((line) => sings(word, line))
    .map((line) => line.replaceAll(word, '<canary>').slice(0, 300));

/** All output of a step, except for the commands that the runner removes from its log. */
const reported = ({ log, outputs, summary }: StepResult): string =>
  [...log.split('\n').filter((line) => !line.startsWith('::add-mask::')), ...Object.values(outputs), summary].join(
    '\n',
  );

/** Runs the command line as npx would in the repository. */
function landfall(...args: string[]): Promise<{ code: unknown; out: string; err: string }> {
  const env = { LANDFALL_BASE_URL: fixture.service.url, LANDFALL_API_KEY: fixture.service.apiKey };
  const options = { cwd: repository.folder, env: { ...process.env, ...env, ...secrets } };
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, 'bin/landfall.cjs'), ...args], options, (error, out, err) =>
      resolve({ code: error ? error.code : 0, out, err }),
    );
  });
}

/** Every input of the step as a command-line option. */
function options(given: Record<string, string>): string[] {
  const usual = { name: 'gossip', source: 'github', 'repo-url': repository.folder, 'repo-ref': 'main' };
  const all = { ...usual, 'graph-config-path': 'langgraph.json', ...given };
  return Object.entries(all).flatMap(([name, value]) => value.split('\n').flatMap((each) => [`--${name}`, each]));
}

/** The files below a folder, except for those of the database itself. */
async function files(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  if (entries.some(({ name }) => name === 'PG_VERSION')) return [];
  const found = entries.map(async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return files(path);
    return entry.isFile() ? [path] : [];
  });
  return (await Promise.all(found)).flat();
}

test("prints no secret in a step's log, outputs or summary", async () => {
  const first = await step();
  expect(first).toMatchObject({ exitCode: 1, outputs: { outcome: 'broken', 'smoke-verdict': 'failed' } });
  id = first.outputs['deployment-id'] ?? '';
  expect(first.log).toContain('CANARY_QUOTES=***');
  expect(singing(reported(first))).toEqual([]);
  // The agent has the secrets, and may show them to its own users.
  const { said } = await fixture.ask(first.outputs['deployment-url'], 'say 0');
  expect(sings(word, said)).toBe(true);
});

test('a build does not have the secrets', async () => {
  const [revision] = await fixture.revisions(id);
  const { logs } = await fixture.control.buildLogs(id, revision?.id ?? '', { limit: 1_000 });
  expect(logs.filter(({ message }) => message === 'secrets of the build: none')).toHaveLength(2);
});

test('prints no secret on the command line', async () => {
  const held = Object.keys(secrets).map((name) => `NEW_${name}=${name}`);
  const planned = await landfall('plan', '--json', ...options({ ...inputs, secrets: held.join('\n') }));
  expect([planned.code, JSON.parse(planned.out)]).toMatchObject([0, { outcome: 'planned', plan: 'patch' }]);
  expect(planned.err).toContain('secrets.NEW_CANARY_LINES');
  const deployed = await landfall('deploy', '--json', ...options(inputs));
  expect([deployed.code, JSON.parse(deployed.out)]).toMatchObject([1, { outcome: 'broken', plan: 'none' }]);
  const call = await landfall('smoke', ...options({ 'smoke-tests': smokeTests }));
  expect([call.code, call.out]).toEqual([1, expect.stringContaining('CANARY_QUOTES=***')]);
  for (const { out, err } of [planned, deployed, call]) expect(singing(`${out}\n${err}`)).toEqual([]);
});

test('prints no committed secret when a build fails', async () => {
  await writeFile(join(repository.folder, 'committed.txt'), Object.values(secrets).join('\n'));
  await repository.commit('Keep it where everybody can find it');
  const failed = await step();
  expect(failed).toMatchObject({ exitCode: 1, outputs: { outcome: 'failed' } });
  expect(failed.outputs['reason']).toContain('BUILD_FAILED: source_config.install_command failed: exit code 1');
  expect(failed.outputs['reason']).toContain('not with this: ***');
  expect(singing(reported(failed))).toEqual([]);
});

test('reports no secret that an agent throws at startup', async () => {
  await rm(join(repository.folder, 'committed.txt'));
  await repository.edit('graph.ts', "'nothing'", "'throw'");
  await repository.commit('Fail at the start');
  const failed = await step();
  expect(failed).toMatchObject({ exitCode: 1, outputs: { outcome: 'failed' } });
  expect(failed.outputs['reason']).toContain('DEPLOY_FAILED');
  expect(failed.outputs['reason']).toContain('cannot start with');
  expect(singing(reported(failed))).toEqual([]);
});

test('repeats no secret when it rejects a request', async () => {
  const refused = await step({ 'build-command': 'cat a | sh' });
  expect(refused).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused' } });
  expect(singing(reported(refused))).toEqual([]);
});

test("keeps secrets out of the service's logs, revisions, files and output", async () => {
  const revisions = await fixture.revisions(id);
  expect(revisions.map(({ status }) => status)).toEqual(['DEPLOY_FAILED', 'BUILD_FAILED', 'DEPLOYED']);
  const { control } = fixture;
  for (const revision of revisions) {
    const logs = await Promise.all([
      control.buildLogs(id, revision.id, { limit: 1_000 }),
      control.deployLogs(id, revision.id, { limit: 1_000 }),
    ]);
    expect(singing(JSON.stringify([revision, logs], undefined, 1))).toEqual([]);
    expect(singing(logs.flatMap((page) => page.logs.map(({ message }) => message)).join('\n'))).toEqual([]);
  }
  expect(singing(fixture.service.log())).toEqual([]);

  const kept = await files(join(fixture.folder, 'data'));
  expect(kept.length).toBeGreaterThan(10);
  const singers = kept.map(async (path) => (sings(word, await readFile(path, 'latin1')) ? [path] : []));
  expect((await Promise.all(singers)).flat()).toEqual([]);
});
