import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { openJourneyFixture, type JourneyFixture } from '../../journey/fixture.ts';
import { runCli, runHere, type CliEnd } from '../run-cli.ts';

let fixture: JourneyFixture;
let id: string;
const name = 'talker';

beforeAll(async () => {
  fixture = await openJourneyFixture();
  const step = await fixture.step(await fixture.repository(name));
  if (step.outputs['outcome'] !== 'deployed') throw new Error(step.log);
  id = step.outputs['deployment-id'] ?? '';
});
afterAll(() => fixture?.close());

const env = () => ({ LANDFALL_BASE_URL: fixture.service.url, LANDFALL_API_KEY: fixture.service.apiKey });
const run = (...args: string[]): Promise<CliEnd> => runHere(args, { env: env() });

/** What a command that passes prints with `--json`. */
async function json<T>(shape: z.ZodType<T>, ...args: string[]): Promise<T> {
  const end = await run(...args, '--json');
  expect(end.err).not.toContain('refused');
  expect(end.code).toBe(0);
  expect(end.out.trimEnd().split('\n')).toHaveLength(1);
  return shape.parse(JSON.parse(end.out));
}

const made = z.object({ revision_id: z.string(), status: z.string(), passes: z.literal(true) });
const answer = z.object({ thread_id: z.string(), run_id: z.string(), text: z.string(), values: z.unknown() });

/** Makes a revision that is held, and waits until it is. */
async function holdRevision(): Promise<string> {
  const change = { source_revision_config: { repo_ref: 'main' } };
  const { latest_revision_id: held } = await fixture.control.patchDeployment(id, change, { holdSeconds: 600 });
  await vi.waitUntil(async () => (await fixture.control.getRevision(id, held ?? '')).hold?.ends_at, {
    timeout: 180_000,
    interval: 200,
  });
  return held ?? '';
}

describe('what runs', () => {
  test('is listed with its state, its commit and its address', async () => {
    const { out } = await run('list');
    expect(out).toMatch(
      /^NAME +STATE +COMMIT +CHANGED +ADDRESS\ntalker +live +[0-9a-f]{7} +\d+ (?:s|min) +http:\S+\n$/,
    );
  });

  test('is shown with its live revision, its pages and its last events', async () => {
    const { out } = await run('status', name);
    expect(out).toMatch(/^Deployment +talker \(live\)$/m);
    expect(out).toContain(`Console     ${fixture.service.url}/console/deployments/${id}\n`);
    expect(out).toMatch(/^Live +[0-9a-f-]{36}, commit [0-9a-f]{7} ".*", made \d+ (?:s|min) ago$/m);
    expect(out).toMatch(/ ago +[0-9a-f]{8} {2}DEPLOYED$/m);
  });

  test('has its address opened by no program where the output is no terminal', async () => {
    const page = await json(z.object({ url: z.string(), opened: z.boolean() }), 'open', name);
    expect(page).toEqual({ url: `${fixture.service.url}/console/deployments/${id}`, opened: false });
    expect((await fetch(page.url)).status).toBe(200);
  });

  test('prints the log of its agent, and of its build', async () => {
    expect((await run('logs', name, '--agent', '--since', '1d')).out).toContain('traffic has switched to it');
    expect((await run('logs', name, '--build')).out).toMatch(/Z Checked out commit [0-9a-f]{40}\.$/m);
  });

  test('ends following the log of a build that has ended', async () => {
    const lines = (await run('logs', name, '--build', '-f', '--json')).out.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ deployment: name, log: 'build' });
  });

  test('follows the log of the agent until Ctrl-C, each line once', async () => {
    const { out, code } = await runCli(['logs', name, '--agent', '-f'], {
      env: env(),
      onOutput: (text, send, which) => {
        if (which === 'out' && text.includes('traffic has switched')) send('SIGINT');
      },
    });
    expect(code).toBe(0);
    expect(out.match(/traffic has switched/g)).toHaveLength(1);
  });
});

describe('a question', () => {
  test('is answered, and its thread goes on', async () => {
    const first = await json(answer, 'ask', name, 'Ada');
    expect(first.values).toMatchObject({ input: 'Ada', said: 'first Ada' });
    const next = await json(answer, 'ask', name, '--thread', first.thread_id, 'Grace');
    expect(next).toMatchObject({ thread_id: first.thread_id, values: { said: 'first Grace' } });
    const shape = z.object({ threads: z.array(z.object({ id: z.string(), status: z.string() })) });
    expect((await json(shape, 'threads', name)).threads[0]).toEqual({ id: first.thread_id, status: 'idle' });
  });

  test('may be the whole input, and needs no name where there is one deployment', async () => {
    const { out, err, code } = await run('ask', '--input', '{"input": "Grace"}');
    expect(code).toBe(0);
    expect(out).toContain('"said": "first Grace"');
    expect(err).toMatch(/^Thread \S+; go on with: landfall ask talker --thread \S+ "…"$/m);
  });

  test.each([
    [['ask', name, 'Ada', '--assistant', 'tolk'], 1, 'Did you mean talk?'],
    [['ask', name, 'Ada', '--input', '{}'], 2, 'Give a question or --input, not both'],
    [['ask', '--input', '{'], 2, 'Give JSON'],
    [['ask'], 2, 'Give a question or --input'],
  ])('is refused: %j', async (args, code, said) => {
    const end = await run(...args);
    expect(end.code).toBe(code);
    expect(end.err).toContain(said);
  });

  test('is among the ended runs', async () => {
    const { run_id } = await json(answer, 'ask', name, 'Alan');
    const shape = z.object({ runs: z.array(z.looseObject({ id: z.string(), status: z.string() })) });
    // Agents report their runs a moment after they have ended.
    await vi.waitUntil(async () => (await json(shape, 'runs', name)).runs.some((each) => each.id === run_id), {
      timeout: 180_000,
      interval: 200,
    });
    const { runs } = await json(shape, 'runs', name, '--limit', '1');
    expect(runs).toMatchObject([{ status: 'success' }]);
  });
});

describe('a change', () => {
  test('deploys the build of the live revision again', async () => {
    const { out, code } = await run('redeploy', name);
    expect(code).toBe(0);
    expect(out).toMatch(/^Revision \S+ of talker is made\.$/m);
    expect(out).toMatch(/^Revision \S+ of talker is live\.$/m);
    const { revisions } = await json(
      z.object({ revisions: z.array(z.looseObject({ state: z.string() })) }),
      'revisions',
      name,
    );
    expect(revisions).toMatchObject([
      { state: 'live', cause: 'redeploy' },
      { state: 'DEPLOYED', cause: 'create' },
    ]);
  });

  test('sets a secret from standard input, which is never printed, and removes it', async () => {
    const set = await runCli(['secrets', 'set', 'MOOD', name], { env: env(), stdin: 'calm-as-a-canary\n' });
    expect(set).toMatchObject({ code: 0 });
    expect(await json(answer, 'ask', name, 'Ada')).toMatchObject({ values: { mood: '***' } });
    const listed = await run('secrets', 'list', name);
    expect(listed.out).toBe('NAME\nMOOD\n');
    const again = await runCli(['secrets', 'set', 'MOOD', name], { env: env(), stdin: 'calm-as-a-canary' });
    expect(again).toMatchObject({ code: 0, out: 'MOOD has this value already.\n' });
    expect(set.out + set.err + again.err).not.toContain('canary');
    const mistyped = await run('secrets', 'rm', 'MODO', name);
    expect(mistyped).toMatchObject({ code: 1, err: expect.stringContaining('Did you mean MOOD?') });
    expect(await json(made, 'secrets', 'rm', 'MOOD', name)).toMatchObject({ status: 'DEPLOYED' });
    expect((await json(answer, 'ask', name, 'Ada')).values).toMatchObject({ mood: 'none' });
  });

  test('promotes the revision that is held', async () => {
    const held = await holdRevision();
    const { out } = await run('status', name);
    expect(out).toMatch(new RegExp(`^Held +${held}, .*, at http`, 'm'));
    const promoted = await run('promote', name);
    expect(promoted).toMatchObject({ code: 0, out: `Revision ${held} of talker is promoted; it takes the traffic.\n` });
  });

  test('discards the revision that is held, and then has none to decide about', async () => {
    const held = await holdRevision();
    const shape = z.object({ outcome: z.string(), revision_id: z.string() });
    expect(await json(shape, 'discard', name, '--revision', held)).toEqual({ outcome: 'discarded', revision_id: held });
    expect(await run('promote', name)).toMatchObject({ code: 1, err: expect.stringContaining('has no held revision') });
  });
});

test('a login serves every command, until it is deleted', async () => {
  const cwd = fixture.folder;
  const { url, apiKey } = fixture.service;
  const login = (key: string) => runCli(['login', url], { cwd, stdin: key });
  expect(await login('lf_wrong')).toMatchObject({ code: 1, err: expect.stringContaining('What to do: ') });
  expect(await runHere(['services', 'list'], { cwd })).toMatchObject({
    out: expect.stringContaining('There is no login'),
  });
  expect(await login(apiKey)).toMatchObject({
    code: 0,
    out: `Logged in to ${url} as local. Commands without --service use it from now on.\n`,
  });
  expect(await runHere(['status', name], { cwd })).toMatchObject({ code: 0 });
  expect(await runHere(['rollback', '--name', name, '--wait', 'false'], { cwd })).toMatchObject({ code: 0 });
  expect(await runHere(['list', '--service', 'locla'], { cwd })).toMatchObject({
    code: 2,
    err: expect.stringContaining('Did you mean local?'),
  });
  expect(await runHere(['logout'], { cwd })).toMatchObject({ code: 0 });
  expect(await runHere(['status', name], { cwd })).toMatchObject({ code: 2 });
});
