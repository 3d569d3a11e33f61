import { createHash, type BinaryToTextEncoding } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { isModernYarn, npmPackageOf, type ManagerVersion } from '../../../agent-folder/packages/manager-version.ts';
import { fromJson } from '../../../kit/json-text.ts';
import { stepFailed, succeeded, type StepResult } from './build.ts';
import type { RunningBuild } from './running-build.ts';
import { readBelow } from '../../../agent-folder/packages/checkout-files.ts';
import { maxManifestSize } from '../../../agent-folder/packages/project-folders.ts';
import { findTool } from './find-tool.ts';
import { runInFolderQueue } from './folder-queue.ts';
import { describeFailure } from './run-command.ts';

/** The largest package of a manager: bun is a program of 100 MB. */
const maxPackageBytes = 200_000_000;
const tarballName = 'package.tgz';

/**
 * Makes a package manager available: this machine's in the right version, else the registry's. npm is always this
 * machine's. @param isExact whether the agent names the version: then no other is used.
 */
export async function providePackageManager(
  wanted: ManagerVersion,
  isExact: boolean,
  running: RunningBuild,
): Promise<StepResult<undefined>> {
  const { env, provide, request } = running;
  const { manager, version } = wanted;
  const hasNpm = findTool('npm', env.PATH ?? '') !== undefined;
  if (manager === 'npm') return hasNpm ? succeeded(undefined) : stepFailed(missingMessage('npm'));
  if (findTool(manager, env.PATH ?? '')) {
    if (!isExact || (await versionOfTool(manager, running)) === version) return succeeded(undefined);
  }
  if (running.signal.aborted) return stepFailed('');
  if (!hasNpm) return stepFailed(missingMessage(manager));
  const folder = join(env.npm_config_cache ?? '', '_managers', `${manager}-${version}`);
  const obtained = await runInFolderQueue(folder, running.signal, () => downloadManager(wanted, folder, running));
  if (obtained === undefined) return stepFailed('');
  if (!obtained.ok) return obtained;
  request.log('info', `Using ${manager} ${version} from the npm registry.`);
  provide({ PATH: `${join(folder, 'bin')}:${env.PATH ?? ''}` });
  return succeeded(undefined);
}

const missingMessage = (manager: string): string => {
  const npm = manager === 'npm' ? '' : ', and neither is npm, which would get it';
  return `${manager} is not installed on this machine${npm}. Install npm, or set source_config.install_command.`;
};

async function versionOfTool(tool: string, { run, folder }: RunningBuild): Promise<string | undefined> {
  const end = await run({ command: tool, args: ['--version'], cwd: folder.home, silent: true });
  return end.kind === 'done' ? end.output.at(-1) : undefined;
}

/** Downloads, verifies and unpacks a package manager, unless an earlier build of the same tenant and user did. */
async function downloadManager(
  wanted: ManagerVersion,
  to: string,
  running: RunningBuild,
): Promise<StepResult<undefined>> {
  const { run, folder } = running;
  if (existsSync(join(to, 'bin'))) return succeeded(undefined);
  const name = npmPackageOf(wanted, platformOfBun());
  const stepName = `Getting ${name} from the npm registry`;
  const temporary = join(folder.temporary, 'package-manager');
  const shell = (script: string, ...args: string[]): ReturnType<typeof run> =>
    run({ command: '/bin/sh', args: ['-c', script, 'sh', temporary, ...args], cwd: folder.home, silent: true });
  // npm verifies the registry's own hash of a package.
  const packed = await shell(downloadScript, name);
  if (packed.kind !== 'done') return stepFailed(packed.kind === 'failed' ? describeFailure(stepName, packed) : '');
  const problem = findMismatch(wanted, temporary);
  if (problem !== undefined) return stepFailed(`${name} from the npm registry ${problem}`);
  const manifest = packageManifest.safeParse(
    fromJson(readBelow(temporary, 'package/package.json', maxManifestSize)?.toString() ?? ''),
  ).data;
  const entry = wanted.manager === 'bun' ? 'bin/bun' : entryOf(manifest, wanted.manager);
  if (entry === undefined) return stepFailed(`${name} has no program "${wanted.manager}". Name another version.`);
  const placed = await shell(placeScript, to, wanted.manager, entry);
  return placed.kind === 'done'
    ? succeeded(undefined)
    : stepFailed(placed.kind === 'failed' ? describeFailure(stepName, placed) : '');
}

const downloadScript = `rm -rf -- "$1" && mkdir -p -- "$1" && cd -- "$1" || exit 1
npm pack "$2" --ignore-scripts --loglevel=error >&2 || exit 1
mv -- *.tgz ${tarballName} && tar -xzf ${tarballName} 2>&1`;

/** Moves a downloaded manager into place. Its programs run with the build's Node.js, whatever their first line says. */
const placeScript = `cd -- "$1" || exit 1
mkdir bin && chmod +x "package/$4" || exit 1
case $4 in *.js|*.cjs|*.mjs) node='node ' ;; *) node= ;; esac
printf '#!/bin/sh\\nexec %s"%s" "$@"\\n' "$node" "$2/package/$4" > "bin/$3" && chmod +x "bin/$3" || exit 1
mkdir -p -- "$(dirname -- "$2")" && rm -rf -- "$2" && mv -- "$1" "$2" && rm -f -- "$2/${tarballName}"`;

const packageManifest = z.object({ bin: z.union([z.string(), z.record(z.string(), z.string())]).optional() });

function entryOf(manifest: z.infer<typeof packageManifest> | undefined, manager: string): string | undefined {
  const bin = manifest?.bin;
  const entry = typeof bin === 'string' ? bin : bin?.[manager];
  return entry?.replace(/^\.\//, '');
}

/** Why a downloaded package is not the one that is wanted, in two sentences; undefined if it is. */
function findMismatch({ hash, integrity, ...wanted }: ManagerVersion, folder: string): string | undefined {
  const bytes = readBelow(folder, tarballName, maxPackageBytes);
  if (bytes === undefined) return 'did not arrive. Try again.';
  const digest = (algorithm: string, of: Buffer, form: BinaryToTextEncoding): string =>
    createHash(algorithm).update(of).digest(form);
  if (integrity !== undefined && integrity !== `sha512-${digest('sha512', bytes, 'base64')}`) {
    return 'is not the package that this service knows by this version. Check the registry in the npm settings.';
  }
  if (hash === undefined) return undefined;
  if (!/^sha(?:1|224|256|384|512)$/.test(hash.algorithm)) return undefined;
  // The hash of newer yarn is of its program, which Corepack downloads alone.
  const program = isModernYarn(wanted) ? readBelow(folder, 'package/bin/yarn.js', maxPackageBytes) : undefined;
  const hasExpectedHash = [bytes, program].some((each) => each && digest(hash.algorithm, each, 'hex') === hash.hex);
  return hasExpectedHash
    ? undefined
    : 'does not have the hash that `packageManager` in package.json names. Update the hash, or remove it.';
}

/** This machine in the names of bun's packages. */
const platformOfBun = (): string =>
  [
    process.platform,
    process.arch === 'arm64' ? 'aarch64' : process.arch,
    ...(existsSync('/etc/alpine-release') ? ['musl'] : []),
  ].join('-');
