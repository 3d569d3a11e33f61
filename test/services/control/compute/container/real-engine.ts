import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../../../../../src/kit/clock.ts';
import { findEngine, type Engine } from '../../../../../src/services/control/compute/container/engine.ts';

/** What this machine has for running containers. */
export type RealEngine =
  | { kind: 'none'; why: string }
  | { kind: 'broken'; name: string; why: string }
  | { kind: 'runs'; name: string; how: string; env: NodeJS.ProcessEnv; image: string; remove: () => Promise<void> };

/**
 * Finds a working engine, builds an image with it without network access, and tries to run it. Lowers the limits
 * where an engine may not set the usual ones, as in a closed sandbox.
 */
export async function realEngine(): Promise<RealEngine> {
  const found = await findEngine({ clock: systemClock, env: process.env });
  if (!found.ok) return { kind: 'none', why: found.reason };
  const folder = mkdtempSync(join(tmpdir(), 'landfall-image-'));
  const image = `localhost/landfall-test-${process.pid}-${Date.now()}`;
  const remove = async (): Promise<void> => {
    await found.engine.run(['rmi', '--force', image]);
    rmSync(folder, { recursive: true, force: true });
  };
  writeRoot(folder);
  const built = await build(found.engine, folder, image);
  const { name } = found.engine;
  let why = built;
  for (const [how, settings] of built === undefined ? waysOf(found.engine, folder) : []) {
    const env = { ...process.env, ...settings };
    const trial = await findEngine({ clock: systemClock, env });
    const ran = trial.ok ? await trial.engine.run(['run', '--rm', image, '/bin/node', '-e', '0']) : undefined;
    if (ran?.code === 0) return { kind: 'runs', name, how, env, image, remove };
    why = ran?.problem;
  }
  await remove();
  return { kind: 'broken', name, why: why ?? 'it does not answer' };
}

function waysOf({ facts }: Engine, folder: string): (readonly [how: string, env: Record<string, string>])[] {
  if (facts.kind === 'docker') return [['as it is', {}]];
  const modest = join(folder, 'containers.conf');
  const ulimits = 'default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]';
  writeFileSync(modest, `[containers]\n${ulimits}\n[engine]\nruntime = "runc"\n`);
  return [
    ['as it is', {}],
    ['with runc and lower limits', { CONTAINERS_CONF: modest }],
  ];
}

/** The files of an image that holds Node.js, the libraries that it needs, and the agent. */
function writeRoot(folder: string): void {
  const put = (from: string, to: string): void => {
    mkdirSync(dirname(join(folder, 'root', to)), { recursive: true });
    copyFileSync(from, join(folder, 'root', to));
  };
  put(process.execPath, 'bin/node');
  put(join(import.meta.dirname, 'agent.mjs'), 'agent.mjs');
  for (const [path] of execFileSync('ldd', [process.execPath], { encoding: 'utf8' }).matchAll(/\/[^ ]+/g))
    put(path, path);
  writeFileSync(join(folder, 'Dockerfile'), 'FROM scratch\nCOPY root/ /\nCMD ["/bin/node", "/agent.mjs"]\n');
}

/** Undefined, or why it could not be built. */
async function build(engine: Engine, folder: string, image: string): Promise<string | undefined> {
  // Copies files only, so that the build needs no network.
  const offline = engine.facts.kind === 'podman' ? ['--isolation=chroot', '--pull=never'] : ['--network=none'];
  const args = ['build', ...offline, `--tag=${image}`, folder];
  const { code, problem } = await engine.run(args, { withinMs: 120_000 });
  return code === 0 ? undefined : `it could not build an image: ${problem}`;
}
