import { readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import * as z from 'zod';
import { fromJson, holdsMore } from '../../contract/json-text.ts';
import type { WriteLine } from '../compute/log-line.ts';
import { cannot, made, type Part } from './build.ts';
import { readBelow } from './checkout-files.ts';
import { findTool } from './find-tool.ts';
import { isLockedFor, managerOf, planInstall, type SeenFolder } from './install-plan.ts';
import type { RunCommand } from './run-command.ts';
import { installInPlace, installThroughStore, type StoredInstallSettings } from './stored-install.ts';

export interface InstallSettings {
  installCommand: string | undefined;
  /** The checkout. */
  source: string;
  /** The folder of the graph configuration file. */
  configFolder: string;
  run: RunCommand;
  /** The search path of the build. */
  path: string;
  log: WriteLine;
  /** Installs through the dependency store. */
  store: Omit<StoredInstallSettings, 'run' | 'log'>;
}

/** Installs the packages of a checkout as `planInstall` decides. */
export async function install(settings: InstallSettings): Promise<Part<'installed'>> {
  const { installCommand, source, configFolder, run, path, log, store } = settings;
  const folders = foldersUp(configFolder, source);
  const plan = planInstall(installCommand, folders);
  const stored = { ...store, run, log };
  switch (plan.kind) {
    case 'refused':
      return cannot(plan.reason);
    case 'nothing':
      log('info', plan.why);
      return made('installed');
    case 'command': {
      log('info', `Installing: ${plan.command}`);
      const name = 'source_config.install_command';
      const requested = { name, command: '/bin/sh', args: ['-c', plan.command], folder: source };
      const manager = managerOf(plan.command);
      const top = folders.at(-1);
      return manager !== undefined && top && isLockedFor(manager, top.files) && findTool(manager, path)
        ? installThroughStore({ ...requested, manager, above: [] }, stored)
        : installInPlace(requested, stored);
    }
    case 'manager': {
      const { manager, args, why } = plan;
      if (!findTool(manager, path)) {
        return cannot(
          `${why}, which is not installed on this machine. Install ${manager}, or commit the lock file of another package manager, or set source_config.install_command.`,
        );
      }
      const command = [manager, ...args].join(' ');
      log('info', `Installing: ${command} (${why})`);
      const folder = join(source, plan.folder);
      const above = folders.filter((each) => isAbove(each.path, plan.folder)).map((each) => join(source, each.path));
      return installThroughStore({ name: command, command: manager, args, folder, manager, above }, stored);
    }
  }
}

/** Whether a folder of the repository is an ancestor of another one. */
const isAbove = (path: string, other: string): boolean =>
  path !== other && (path === '' || other.startsWith(`${path}/`));

/** The most bytes that are read of these files: a longer manifest is invalid, and a lock file names its kind at the top. */
const largestManifest = 1_000_000;
const yarnHead = 4_096;

/** The most values of a package.json that is parsed. */
const mostValues = 10_000;

const manifest = z.object({ packageManager: z.string().optional() });

/** A folder and its ancestors, up to the root of the checkout. */
function foldersUp(folder: string, source: string): SeenFolder[] {
  const seen = see(folder, relative(source, folder));
  return folder === source ? [seen] : [seen, ...foldersUp(dirname(folder), source)];
}

function see(folder: string, path: string): SeenFolder {
  const files = new Set(readdirSync(folder));
  const text = readBelow(folder, 'package.json', largestManifest)?.toString();
  return {
    path,
    files,
    packageManager: text === undefined ? undefined : packageManagerIn(text),
    modernYarn: readBelow(folder, 'yarn.lock', yarnHead)?.includes('__metadata:') ?? false,
  };
}

/** Undefined for an invalid file too: the package manager will report the problem better. */
const packageManagerIn = (text: string): string | undefined =>
  holdsMore(text, mostValues) ? undefined : manifest.safeParse(fromJson(text)).data?.packageManager;
