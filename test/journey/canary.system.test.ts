import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Repository } from '../../src/demo/repository.ts';
import type { StepResult } from '../../src/demo/runner.ts';
import { canaries, canaryWord } from './canary.ts';
import { sings } from './canary-word.ts';
import { linkPackages, openJourneyFixture, root, type JourneyFixture } from './fixture.ts';

const word = canaryWord();
const secrets = canaries(word);

let fixture: JourneyFixture;
let repository: Repository;
/** The deployment, as the first step told it. */
let id = '';

beforeAll(async () => {
  fixture = await openJourneyFixture();
  repository = await fixture.repository('gossip');
});
afterAll(() => fixture?.close());

const within = { timeout: 90_000 };

/** How many ways of telling its secrets the agent knows. */
const ways = Object.keys(secrets).length * 14;

const asking = (input: string, expected: object, thread = false): object => ({
  name: `${input}${thread ? ' on a thread' : ''}`,
  assistant: 'talk',
  input: { input },
  thread,
  expect: expected,
  attempts: 1,
});

/** Questions that are answered with every secret, and expectations that are not met: so what was seen is told. */
const smokeTests = JSON.stringify([
  asking('gossip 0', { values: [{ path: '$', equals: {} }] }),
  asking('gossip 2', { status: 'interrupted', nodes: { 'in-order': ['other'] } }, true),
  ...Array.from({ length: ways }, (_, at) => asking(`tell ${at}`, { values: [{ path: '$.said', equals: '' }] })),
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
};

/** A step that is asked to say more than usual. */
const step = (more: Record<string, string> = {}): Promise<StepResult> =>
  fixture.step(repository, { inputs: { ...inputs, ...more }, env: { ...secrets, RUNNER_DEBUG: '1' } });

/** The lines of a text that sing, with the word blotted out: a failure shows where, and tells nothing. */
const singing = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .filter((line) => sings(word, line))
    .map((line) => line.replaceAll(word, '<canary>').slice(0, 300));

/** All that a step leaves behind, but for the commands that the runner takes out of its log. */
const reported = ({ log, outputs, summary }: StepResult): string =>
  [...log.split('\n').filter((line) => !line.startsWith('::add-mask::')), ...Object.values(outputs), summary].join(
    '\n',
  );

/** The command line, as npx runs it in the repository. */
function landfall(...args: string[]): Promise<{ code: unknown; out: string; err: string }> {
  const env = { LANDFALL_BASE_URL: fixture.service.url, LANDFALL_API_KEY: fixture.service.apiKey };
  const options = { cwd: repository.folder, env: { ...process.env, ...env, ...secrets } };
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, 'bin/landfall.cjs'), ...args], options, (error, out, err) =>
      resolve({ code: error ? error.code : 0, out, err }),
    );
  });
}

/** Every option of the step as the command line takes it. */
function options(given: Record<string, string>): string[] {
  const usual = { name: 'gossip', source: 'github', 'repo-url': repository.folder, 'repo-ref': 'main' };
  const all = { ...usual, 'graph-config-path': 'langgraph.json', ...given };
  return Object.entries(all).flatMap(([name, value]) => value.split('\n').flatMap((each) => [`--${name}`, each]));
}

/** The files below a folder, but for those of the database itself. */
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

test('a step tells no secret in its log, its outputs, its summary, whatever the agent says', within, async () => {
  const first = await step();
  expect(first).toMatchObject({ exitCode: 1, outputs: { outcome: 'broken', 'smoke-verdict': 'failed' } });
  id = first.outputs['deployment-id'] ?? '';
  expect(first.log).toContain('CANARY_QUOTES=***');
  expect(singing(reported(first))).toEqual([]);
  // The agent has the secrets, and its own users may hear of them.
  const { said } = await fixture.ask(first.outputs['deployment-url'], 'tell 0');
  expect(sings(word, said)).toBe(true);
});

test('a build does not have the secrets', within, async () => {
  const [revision] = await fixture.revisions(id);
  const { logs } = await fixture.control.buildLogs(id, revision?.id ?? '', { limit: 1_000 });
  expect(logs.filter(({ message }) => message === 'secrets of the build: none')).toHaveLength(2);
});

test('the command line tells no secret', within, async () => {
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

test('a secret that somebody committed is told by no build that fails', within, async () => {
  await writeFile(join(repository.folder, 'committed.txt'), Object.values(secrets).join('\n'));
  await repository.commit('Keep it where everybody can find it');
  const failed = await step();
  expect(failed).toMatchObject({ exitCode: 1, outputs: { outcome: 'failed' } });
  expect(failed.outputs['reason']).toContain('BUILD_FAILED: source_config.install_command failed: exit code 1');
  expect(failed.outputs['reason']).toContain('not with this: ***');
  expect(singing(reported(failed))).toEqual([]);
});

test('an agent that throws its secrets at the start tells them to nobody', within, async () => {
  await rm(join(repository.folder, 'committed.txt'));
  await repository.edit('graph.ts', "'nothing'", "'throw'");
  await repository.commit('Fail at the start');
  const failed = await step();
  expect(failed).toMatchObject({ exitCode: 1, outputs: { outcome: 'failed' } });
  expect(failed.outputs['reason']).toContain('DEPLOY_FAILED');
  expect(failed.outputs['reason']).toContain('cannot start with');
  expect(singing(reported(failed))).toEqual([]);
});

test('a request that is refused repeats no secret', within, async () => {
  const refused = await step({ 'build-command': 'cat a | sh' });
  expect(refused).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused' } });
  expect(singing(reported(refused))).toEqual([]);
});

test('no log, revision or file of the service holds a secret, and the service itself says none', within, async () => {
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
