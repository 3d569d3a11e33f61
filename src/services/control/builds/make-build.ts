import { realpathSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pause, type Clock } from '../../../kit/clock.ts';
import { cutText } from '../../../kit/plain-text.ts';
import { maskOf } from '../../../contract/masking/mask.ts';
import { startGuarded, type GuardedProcess } from '../compute/guarded-process.ts';
import type { ProcessFamily } from '../compute/process-family.ts';
import type { AgentProgramFiles } from '../isolation/program.ts';
import { changeOwner } from '../isolation/change-owner.ts';
import { commandProblem } from '../deployments/validation/value-problems.ts';
import { buildEnvironment, networkSecrets } from './build-environment.ts';
import { listBuildFiles } from './build-files.ts';
import { hasGeneratedLock, removeGeneratedLock } from './generated-lock.ts';
import {
  cleanUp,
  recreateBuildFolder,
  recordBuild,
  removeOrReport,
  type BuildFolder,
  isWithin,
} from './build-folder.ts';
import { buildProcesses, watchBuild } from './build-processes.ts';
import {
  stepFailed,
  succeeded,
  defaultBuildBounds,
  type Build,
  type BuildBounds,
  type BuildEnd,
  type BuildRequest,
  type StepResult,
} from './build.ts';
import type { RunningBuild } from './running-build.ts';
import { describeFailure, commandRunner, createOutputLimit } from './run-command.ts';
import { diskIsFull, freeSpace, isDiskFull, isDiskFullMessage, spaceIsShort, type FreeSpace } from './free-space.ts';
import { tokenSecrets } from './git-settings.ts';
import { installAgent } from './install-agent.ts';
import { obtainSource } from './obtain-source.ts';
import { bundleUi, importGraphs, readTypes, typesMs } from './prepare-agent.ts';
import { interpreterIn } from './python/install-commands.ts';
import { packageCache } from './dependency-store.ts';
import { graphLocations } from '../../../agent-folder/graph-config/graph-path.ts';
import { checkRunnable } from '../../../agent-folder/graph-config/language.ts';
import { readGraphConfig } from '../../../agent-folder/graph-config/read.ts';
import type { GraphConfig } from '../../../agent-folder/graph-config/schema.ts';
import { formatProblem, inOrder } from '../../../kit/diagnostics/problem.ts';
import { realPath } from './allowed-repository.ts';

export interface BuildDependencies {
  /** The folder that contains `builds/`. */
  dataDir: string;
  allowGit: readonly string[];
  clock: Clock;
  bounds?: Partial<BuildBounds> | undefined;
  /** This service's environment. Builds receive few of its variables. */
  env?: NodeJS.ProcessEnv;
  freeSpace?: FreeSpace;
  /** The program that prepares agents; the one of this installation when absent. */
  program?: AgentProgramFiles | undefined;
  /** Frees disk space until this many bytes are free. */
  makeRoom?: ((wanted: number) => Promise<void>) | undefined;
  step?: ((done: 'cloned' | 'installed' | 'built') => void | Promise<void> | undefined) | undefined;
}

/** How many warnings a revision keeps, and how long each may be (characters). */
const maxWarnings = 10;
const maxWarningLength = 1_000;

/** Makes the build of a revision. A failed build leaves no files and no processes. */
export async function makeBuild(
  request: BuildRequest,
  settings: BuildDependencies,
  signal: AbortSignal,
): Promise<BuildEnd> {
  const { dataDir } = settings;
  const bounds = { ...defaultBuildBounds, ...settings.bounds };
  const spaceProblem = await findSpaceProblem(settings);
  const failed = async (reason: string): Promise<BuildEnd> => {
    await request.onFailure?.(reason);
    return { kind: 'failed', reason };
  };
  if (spaceProblem !== undefined) return failed(spaceProblem);
  let folder: BuildFolder | undefined;
  let processes: ProcessFamily | undefined;
  let complete = false;
  // Keep the lock file of an earlier successful build: the revision is built again with the same packages.
  const hadLock = hasGeneratedLock(dataDir, request.revisionId);
  try {
    folder = await recreateBuildFolder(dataDir, request.revisionId);
    processes = buildProcesses(folder.root, settings.clock, request.user);
    const warnings: string[] = [];
    const result = await build(request, folder, { ...settings, bounds, processes, warnings }, signal);
    if (signal.aborted) return { kind: 'interrupted' };
    if (!result.ok) return await failed(explainFullDisk(result.reason));
    await processes.end();
    await listBuildFiles(folder);
    const made: Build = { ...result.value, usesHome: readdirSync(folder.home).length > 0 };
    recordBuild(made);
    complete = true;
    return { kind: 'built', build: made, warnings };
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    return await failed(diskIsFull);
  } finally {
    await processes?.end();
    const report = (message: string): void => request.log('warning', message);
    if (!complete && !hadLock) removeGeneratedLock(dataDir, request.revisionId);
    if (folder) await (complete ? removeOrReport(folder.temporary, report) : cleanUp(folder.root, report));
  }
}

/** Returns a message where a build has too little disk space for `size` more bytes, after an attempt to free some. */
export async function findSpaceProblem(
  { dataDir, freeSpace: free = freeSpace, makeRoom, bounds }: BuildDependencies,
  size = 0,
): Promise<string | undefined> {
  const needed = { ...defaultBuildBounds, ...bounds }.minFreeBytes + size;
  if ((await free(dataDir)) >= needed) return undefined;
  await makeRoom?.(2 * needed);
  const freeBytes = await free(dataDir);
  return freeBytes < needed ? spaceIsShort(freeBytes, needed) : undefined;
}

const explainFullDisk = (reason: string): string => (isDiskFullMessage(reason) ? `${diskIsFull} (${reason})` : reason);

async function build(
  request: BuildRequest,
  folder: BuildFolder,
  settings: BuildDependencies & { bounds: BuildBounds; processes: ProcessFamily; warnings: string[] },
  signal: AbortSignal,
): Promise<StepResult<Build>> {
  const { installCommand, buildCommand, graphConfigPath, log, user, tenantId } = request;
  const { dataDir, allowGit, clock, bounds, processes, warnings, env: serviceEnv = process.env, step } = settings;
  const problem = problemOf('install_command', installCommand) ?? problemOf('build_command', buildCommand);
  if (problem) return stepFailed(problem);
  const token = request.from.kind === 'git' ? await request.from.token?.() : undefined;
  if (token && !token.ok) return token;

  const env = buildEnvironment(folder, await packageCache(dataDir, tenantId, user), serviceEnv, user !== undefined);
  const secrets = [
    ...request.secrets.map(({ value }) => value),
    ...networkSecrets(serviceEnv),
    ...tokenSecrets(token?.value),
  ];
  const mask = maskOf(secrets);
  const maskedRequest: BuildRequest = { ...request, log: (level, message) => log(level, mask(message)) };
  const warn = (message: string): void => {
    maskedRequest.log('warning', message);
    if (warnings.length < maxWarnings) warnings.push(cutText(mask(message), maxWarningLength));
  };
  const watch = watchBuild({ processes, bounds, dataDir, freeSpace: settings.freeSpace ?? freeSpace, clock });
  const output = createOutputLimit(log, bounds);
  const startStep = commandRunner({ env, user, output, mask, clock, processes, watch, signal });
  if (user) for (const folderOfUser of [folder.home, folder.temporary]) await changeOwner(folderOfUser, user);

  let isUsers = false;
  const giveSource = async (): Promise<void> => {
    if (user && !isUsers) await changeOwner(folder.source, user);
    isUsers = true;
  };
  /** Kills the reader when it exceeds its time or memory: other processes of its user could suspend it forever. */
  const readAsUser = (cwd: string): GuardedProcess => {
    const limits = { withInput: false, graceSeconds: 0, outputMs: bounds.installMs };
    const reader = startGuarded({ command: 'tar', args: ['-cf', '-', '.'], cwd, env, user, ...limits }, clock);
    const readEnd = new AbortController();
    const readSignal = AbortSignal.any([readEnd.signal, signal]);
    void reader.ended.then(() => readEnd.abort());
    void Promise.race([pause(clock, bounds.installMs, readSignal), watch(readSignal)]).then(reader.kill, reader.kill);
    return reader;
  };
  const context = {
    request: maskedRequest,
    warn,
    folder,
    dataDir,
    allowGit,
    bounds,
    env,
    token: token?.value,
    provide: (variables: Readonly<Record<string, string>>) => void Object.assign(env, variables),
    giveSource,
    readAsUser,
    clock,
    signal,
  };

  const obtained = await obtainSource({ ...context, run: startStep(bounds.cloneMs) });
  if (!obtained.ok || signal.aborted) return obtained.ok ? stepFailed('') : obtained;
  await step?.('cloned');

  const sourceKind = request.from.kind === 'tarball' ? 'source tarball' : 'repository';
  const config = findGraphConfig(folder.source, graphConfigPath, { log: maskedRequest.log, warn }, sourceKind);
  if (!config.ok) return config;
  const source = realpathSync(folder.source);
  const { file: graphConfigFile, content } = config.value;
  const agent = { source, file: graphConfigFile, config: content, program: settings.program };
  const installed = await installAgent(agent, { ...context, run: startStep(bounds.installMs) });
  if (!installed.ok || signal.aborted) return installed.ok ? stepFailed('') : installed;
  const preparation = { ...agent, log: maskedRequest.log, warn };
  await step?.('installed');

  if (buildCommand !== undefined) {
    log('info', `Building: ${buildCommand}`);
    const spec = { command: '/bin/sh', args: ['-c', buildCommand], cwd: dirname(graphConfigFile) };
    const end = await startStep(bounds.buildMs)(spec);
    if (end.kind !== 'done')
      return stepFailed(end.kind === 'failed' ? describeFailure('source_config.build_command', end) : '');
  }
  const bundled = await bundleUi({ ...preparation, run: startStep(bounds.buildMs) });
  if (!bundled.ok) return bundled;
  const read = await readTypes({ ...preparation, run: startStep(Math.min(typesMs, bounds.buildMs)) });
  if (!read.ok) return read;
  if (installed.value.python) {
    const importStep = { ...preparation, run: startStep(Math.min(typesMs, bounds.buildMs)) };
    const imported = await importGraphs(importStep, interpreterIn(folder.python));
    if (!imported.ok) return imported;
  }
  await step?.('built');
  return succeeded({ folder: folder.root, from: obtained.value, graphConfigFile, ...installed.value });
}

/** Validates a command again, immediately before its use. */
const problemOf = (name: string, command: string | undefined): string | undefined =>
  command === undefined ? undefined : commandProblem(`source_config.${name}`, command);

const maxConfigBytes = 1_000_000;

/**
 * Reads the graph configuration of a checkout, with the real path of its file. The file must be inside the checkout,
 * also after following links, be valid, and name graphs that this machine can run. Logs every problem.
 */
export function findGraphConfig(
  source: string,
  graphConfigPath: string,
  { log, warn }: Pick<BuildRequest, 'log'> & Pick<RunningBuild, 'warn'>,
  what: 'repository' | 'source tarball' = 'repository',
): StepResult<{ file: string; content: GraphConfig }> {
  const advice = `Check source_revision_config.graph_config_path: it is relative to the root of the ${what}.`;
  const file = realPath(join(source, graphConfigPath));
  if (file === undefined) {
    const missing = what === 'repository' ? 'The repository has no file' : 'The source tarball has no file';
    return stepFailed(`${missing} ${graphConfigPath}. ${advice}`);
  }
  if (!isWithin(realpathSync(source), file))
    return stepFailed(`${graphConfigPath} leads out of the ${what}. ${advice}`);
  const stat = statSync(file);
  if (!stat.isFile()) return stepFailed(`${graphConfigPath} is not a file. ${advice}`);
  if (stat.size > maxConfigBytes) return stepFailed(`${graphConfigPath} is larger than ${maxConfigBytes} bytes.`);

  const read = readGraphConfig(readFileSync(file, 'utf8'), graphConfigPath);
  const problems = read.ok ? inOrder([...read.refused, ...read.imageOnly]) : read.problems;
  if (!read.ok || problems.length > 0) {
    for (const problem of problems) log('error', formatProblem(problem));
    // A misspelled key may cause the other problems, so show a problem with a suggestion first.
    const shownProblem = problems.find(({ suggestion }) => suggestion !== undefined) ?? problems[0];
    const more = problems.length <= 1 ? '' : ` (and ${problems.length - 1} more in the build log)`;
    return stepFailed(
      `The graph configuration is invalid: ${shownProblem ? formatProblem(shownProblem) : graphConfigPath}${more}.`,
    );
  }
  for (const warning of read.warnings) warn(formatProblem(warning));
  const runnable = checkRunnable(graphLocations(read.value), { python: true });
  return runnable.kind === 'runnable' ? succeeded({ file, content: read.value }) : stepFailed(runnable.reason);
}
