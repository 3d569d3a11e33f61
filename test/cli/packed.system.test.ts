import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { copyCheckout } from '../scripts/release/copy-checkout.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'landfall-packed-')));
// Postgres runs as another user if we are root: the way to the data has to be open.
chmodSync(base, 0o755);
const home = join(base, 'home');
const app = join(base, 'app');
const launcher = join(app, 'node_modules/.bin/landfall');
/** What reaches the registry stays (proxies, certificates); the home is an empty one. */
const { XDG_DATA_HOME: _, XDG_STATE_HOME: __, ...inherited } = process.env;
const env = { ...inherited, HOME: home };

let service: ChildProcess | undefined;

/** Runs a program in the folder of the package's user. A failure rejects with what it printed. */
function run(program: string, args: readonly string[], { cwd = app, more = {} } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd, env: { ...env, ...more }, maxBuffer: 1e8 }, (error, stdout, stderr) =>
      error ? reject(new Error(`${program} ${args.join(' ')}\n${stdout}${stderr}`)) : resolve(stdout),
    );
  });
}

beforeAll(async () => {
  for (const folder of [home, app]) mkdirSync(folder);
  const checkout = join(base, 'checkout');
  copyCheckout(checkout);
  await run('npm', ['pack', '--pack-destination', base], { cwd: checkout });
  const [tarball = ''] = readdirSync(base).filter((name) => name.endsWith('.tgz'));
  await run('npm', ['install', '--no-audit', '--no-fund', join(base, tarball)]);
});
afterAll(async () => {
  if (service && service.exitCode === null) {
    const ended = once(service, 'exit');
    service.kill('SIGTERM');
    await ended;
  }
  rmSync(base, { recursive: true, force: true });
});

const ready = z.object({ url: z.string(), api_key: z.string() });
const deployed = z.object({ outcome: z.string(), deployment_url: z.string() });

test('the packed package writes, validates, deploys and asks in an empty folder', async () => {
  expect(await run('npx', ['--no-install', 'landfall', '--help'])).toContain('Usage: landfall');

  cpSync(join(app, 'node_modules/landfall/examples/echo-agent'), join(app, 'echo'), { recursive: true });
  rmSync(join(app, 'echo/.github'), { recursive: true });
  expect(await run(launcher, ['init', '--copy-action'])).toContain('wrote .github/landfall.yml\n');
  expect(await run(launcher, ['validate'])).toContain('.github/landfall.yml: fine\n');

  service = spawn(launcher, ['local', '--port', '0', '--json'], {
    cwd: app,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (!service.stdout) throw new Error('The service has no output.');
  const [line] = await once(createInterface({ input: service.stdout }), 'line');
  const { url, api_key: key } = ready.parse(JSON.parse(String(line)));
  expect(existsSync(join(home, '.local/share/landfall/api-key'))).toBe(true);
  expect(existsSync(join(app, '.landfall'))).toBe(false);

  const more = { LANDFALL_BASE_URL: url, LANDFALL_API_KEY: key };
  const { outcome, deployment_url: agent } = deployed.parse(
    JSON.parse(await run(launcher, ['deploy', '--json'], { more })),
  );
  expect(outcome).toBe('deployed');
  const response = await fetch(`${agent}/runs/wait`, {
    method: 'POST',
    headers: { 'X-Api-Key': key, 'Content-Type': 'application/json' },
    body: JSON.stringify({ assistant_id: 'echo', input: { input: 'Ada' } }),
  });
  expect(await response.json()).toMatchObject({ output: 'hello Ada' });

  // The Action that was copied from the package, as a runner starts it.
  const inputs = { 'INPUT_BASE-URL': url, 'INPUT_API-KEY': key, INPUT_MODE: 'plan', GITHUB_WORKSPACE: app };
  const action = join(app, '.github/actions/landfall/dist/index.js');
  expect(await run(process.execPath, [action], { more: inputs })).toContain('echo');
});
