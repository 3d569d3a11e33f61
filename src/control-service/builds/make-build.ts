import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../clock.ts';
import { maskOf } from '../compute/mask.ts';
import { commandProblem } from '../rules/commands.ts';
import { buildEnvironment, networkSecrets } from './build-environment.ts';
import { clearAway, freshBuildFolder, recordBuild, type BuildFolder } from './build-folder.ts';
import { cannot, made, usualBuildBounds } from './build.ts';
import type { Build, BuildBounds, BuildEnd, BuildRequest, BuiltFrom, Part } from './build.ts';
import { checkOut } from './check-out.ts';
import { findTool } from './find-tool.ts';
import { findGraphConfig } from './graph-config-file.ts';
import { failure, install } from './install.ts';
import { commandRunner, type RunCommand } from './run-command.ts';
import { unpackSource } from './unpack-source.ts';

export interface BuildSettings {
  /** The service's data folder; builds lie in `builds/` of it. */
  dataDir: string;
  /** Folders of this machine whose repositories may be cloned; absolute paths. */
  allowGit: readonly string[];
  clock: Clock;
  bounds?: BuildBounds;
  /** This service's environment, of which a build gets the little that it needs. */
  env?: NodeJS.ProcessEnv;
}

/**
 * Makes the build of a revision: clones or unpacks, reads the graph configuration, installs, builds (control-service.md,
 * source_config).
 * A build that fails or is interrupted leaves nothing on the disk.
 */
export async function makeBuild(
  request: BuildRequest,
  settings: BuildSettings,
  signal: AbortSignal,
): Promise<BuildEnd> {
  const folder = await freshBuildFolder(settings.dataDir, request.revisionId);
  let complete = false;
  try {
    const part = await build(request, folder, settings, signal);
    if (signal.aborted) return { kind: 'interrupted' };
    if (!part.ok) return { kind: 'failed', reason: part.reason };
    recordBuild(part.value);
    complete = true;
    return { kind: 'built', build: part.value };
  } finally {
    await clearAway(complete ? folder.temporary : folder.root, (message) => request.log('warning', message));
  }
}

async function build(
  request: BuildRequest,
  folder: BuildFolder,
  { dataDir, allowGit, clock, bounds = usualBuildBounds, env: ours = process.env }: BuildSettings,
  signal: AbortSignal,
): Promise<Part<Build>> {
  const { installCommand, buildCommand, graphConfigPath, log } = request;
  const wrong = commandsProblem(installCommand, buildCommand);
  if (wrong) return cannot(wrong);
  const env = buildEnvironment(folder, dataDir, ours);
  const path = env.PATH ?? '';
  const mask = maskOf([...request.secrets.map(({ value }) => value), ...networkSecrets(ours)]);
  const masked: BuildRequest = { ...request, log: (level, message) => log(level, mask.whole(message)) };
  const run = commandRunner({ env, log, mask, clock, signal });

  const obtained = await obtainSource(masked, { folder, allowGit, run, path, withinMs: bounds.cloneMs, signal });
  if (!obtained.ok || signal.aborted) return obtained.ok ? cannot('') : obtained;

  const config = findGraphConfig(folder.source, graphConfigPath, masked.log);
  if (!config.ok) return config;
  const source = realpathSync(folder.source);
  const configFolder = dirname(config.value);

  const installing = { installCommand, source, configFolder, run, path, withinMs: bounds.installMs, log: masked.log };
  const installed = await install(installing);
  if (!installed.ok) return installed;

  if (buildCommand !== undefined) {
    log('info', `Building: ${buildCommand}`);
    const spec = { command: '/bin/sh', args: ['-c', buildCommand], cwd: configFolder, withinMs: bounds.buildMs };
    const end = await run(spec);
    if (end.kind !== 'done') return cannot(end.kind === 'failed' ? failure('source_config.build_command', end) : '');
  }
  return made({ folder: folder.root, from: obtained.value, graphConfigFile: config.value });
}

interface Obtaining {
  folder: BuildFolder;
  allowGit: readonly string[];
  run: RunCommand;
  /** The search path of the build. */
  path: string;
  withinMs: number;
  signal: AbortSignal;
}

/** Puts the source into its folder. */
async function obtainSource(
  { from, log, onCommit }: BuildRequest,
  { folder, allowGit, run, path, withinMs, signal }: Obtaining,
): Promise<Part<BuiltFrom>> {
  if (from.kind === 'tarball') return unpackSource(from, { into: folder.source, log, signal });
  if (!findTool('git', path)) {
    return cannot(
      'git is not installed on this machine, so no repository can be cloned. Install git and deploy again.',
    );
  }
  const commit = await checkOut(from, { folder, allowGit, run, withinMs, log });
  if (!commit.ok || signal.aborted) return commit.ok ? cannot('') : commit;
  await onCommit(commit.value);
  return made({ kind: 'commit', commit: commit.value });
}

/** The rules of the commands hold at the moment of use too. */
function commandsProblem(installCommand: string | undefined, buildCommand: string | undefined): string | undefined {
  return (
    (installCommand === undefined ? undefined : commandProblem('source_config.install_command', installCommand)) ??
    (buildCommand === undefined ? undefined : commandProblem('source_config.build_command', buildCommand))
  );
}
