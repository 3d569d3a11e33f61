import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as z from 'zod';

const Packages = z.object({
  packages: z.record(z.string(), z.object({ version: z.string().optional(), optional: z.boolean().optional() })),
});

/**
 * Installs the packages of a partner's folder where npm's own record does not say that all of them are there. Test files
 * that run at the same time may install the same folder: each installs beside it, and the first moves its own there.
 */
export async function installPackages(partner: string): Promise<void> {
  if (isInstalled(partner)) return;
  const beside = await mkdtemp(join(partner, '.install-'));
  try {
    for (const name of ['package.json', 'package-lock.json']) await copyFile(join(partner, name), join(beside, name));
    await runNpmCi(beside);
    if (isInstalled(partner)) return;
    const modules = join(partner, 'node_modules');
    if (existsSync(modules)) await rename(modules, join(beside, 'former'));
    await rename(join(beside, 'node_modules'), modules);
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

async function runNpmCi(cwd: string): Promise<void> {
  const npm = process.env['npm_execpath'];
  const requested = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const [program, args] = npm ? [process.execPath, [npm, ...requested]] : ['npm', requested];
  await promisify(execFile)(program, args, { cwd });
}

function isInstalled(partner: string): boolean {
  const record = join(partner, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const packagesIn = (file: string) => Packages.parse(JSON.parse(readFileSync(file, 'utf8'))).packages;
  const there = packagesIn(record);
  return Object.entries(packagesIn(join(partner, 'package-lock.json'))).every(
    ([path, { version, optional }]) => path === '' || optional || there[path]?.version === version,
  );
}
