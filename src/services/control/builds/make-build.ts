import { realpathSync, readFileSync, statSync } from 'node:fs';
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
import { hasMadeLock, removeMadeLock } from './made-lock.ts';
import { cleanUp, freshBuildFolder, recordBuild, removeOrReport, type BuildFolder, isWithin } from './build-folder.ts';
import { buildProcesses, watchBuild } from './build-processes.ts';
import {
  stepFailed,
  succeeded,
  usualBuildBounds,
  type Build,
  type BuildBounds,
  type BuildEnd,
  type BuildRequest,
  type StepResult,
} from './build.ts';
import type { RunningBuild } from './running-build.ts';
import { failure, commandRunner, outputBound } from './run-command.ts';
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
  /** Builds lie in `builds/` of it. */
  dataDir: string;
  allowGit: readonly string[];
  clock: Clock;
  bounds?: Partial<BuildBounds> | undefined;
  /** This service's environment, of which a build gets very little. */
  env?: NodeJS.ProcessEnv;
  freeSpace?: FreeSpace;
  /** The program that prepares an agent; that of this installation when absent. */
  program?: AgentProgramFiles | undefined;
  /** Frees disk space until this many bytes are free. */
  makeRoom?: ((wanted: number) => Promise<void>) | undefined;
  step?: ((done: 'cloned' | 'installed' | 'built') => void | Promise<void> | undefined) | undefined;
}

/** How many warnings a revision keeps, and how long each may be (characters). */
const maxWarnings = 10;
const maxWarningLength = 1_000;

/** Makes the build of a revision. A failed one leaves no files and no processes. */
export async function makeBuild(
  request: BuildRequest,
  settings: BuildDependencies,
  signal: AbortSignal,
): Promise<BuildEnd> {
  const { dataDir } = settings;
  const bounds = { ...usualBuildBounds, ...settings.bounds };
  const short = await lacksSpace(settings, bounds);
  const failed = async (reason: string): Promise<BuildEnd> => {
    await request.onFailure?.(reason);
    return { kind: 'failed', reason };
  };
  if (short !== undefined) return failed(short);
  let folder: BuildFolder | undefined;
  let processes: ProcessFamily | undefined;
  let complete = false;
  // One of an earlier build that did not fail stays: the revision is made again with the same packages.
  const hadLock = hasMadeLock(dataDir, request.revisionId);
  try {
    folder = await freshBuildFolder(dataDir, request.revisionId);
    processes = buildProcesses(folder.root, settings.clock, request.user);
    const warnings: string[] = [];
    const part = await build(request, folder, { ...settings, bounds, processes, warnings }, signal);
    if (signal.aborted) return { kind: 'interrupted' };
    if (!part.ok) return await failed(inWords(part.reason));
    await listBuildFiles(folder);
    recordBuild(part.value);
    complete = true;
    return { kind: 'built', build: part.value, warnings };
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    return await failed(diskIsFull);
  } finally {
    await processes?.end();
    const report = (message: string): void => request.log('warning', message);
    if (!complete && !hadLock) removeMadeLock(dataDir, request.revisionId);
    if (folder) await (complete ? removeOrReport(folder.temporary, report) : cleanUp(folder.root, report));
  }
}

/** The message about too little disk space for a build, after an attempt to free some. */
async function lacksSpace(
  { dataDir, freeSpace: free = freeSpace, makeRoom }: BuildDependencies,
  { minFreeBytes }: BuildBounds,
): Promise<string | undefined> {
  if ((await free(dataDir)) >= minFreeBytes) return undefined;
  await makeRoom?.(2 * minFreeBytes);
  const left = await free(dataDir);
  return left < minFreeBytes ? spaceIsShort(left, minFreeBytes) : undefined;
}

const inWords = (reason: string): string => (isDiskFullMessage(reason) ? `${diskIsFull} (${reason})` : reason);

async function build(
  request: BuildRequest,
  folder: BuildFolder,
  settings: BuildDependencies & { bounds: BuildBounds; processes: ProcessFamily; warnings: string[] },
  signal: AbortSignal,
): Promise<StepResult<Build>> {
  const { installCommand, buildCommand, graphConfigPath, log, user, tenantId } = request;
  const { dataDir, allowGit, clock, bounds, processes, warnings, env: ours = process.env, step } = settings;
  const wrong = problemOf('install_command', installCommand) ?? problemOf('build_command', buildCommand);
  if (wrong) return stepFailed(wrong);
  const token = request.from.kind === 'git' ? await request.from.token?.() : undefined;
  if (token && !token.ok) return token;

  const env = buildEnvironment(folder, await packageCache(dataDir, tenantId, user), ours, user !== undefined);
  const secrets = [
    ...request.secrets.map(({ value }) => value),
    ...networkSecrets(ours),
    ...tokenSecrets(token?.value),
  ];
  const mask = maskOf(secrets);
  const masked: BuildRequest = { ...request, log: (level, message) => log(level, mask(message)) };
  const warn = (message: string): void => {
    masked.log('warning', message);
    if (warnings.length < maxWarnings) warnings.push(cutText(mask(message), maxWarningLength));
  };
  const watch = watchBuild({ processes, bounds, dataDir, freeSpace: settings.freeSpace ?? freeSpace, clock });
  const output = outputBound(log, bounds);
  const beginPart = commandRunner({ env, user, output, mask, clock, processes, watch, signal });
  if (user) for (const own of [folder.home, folder.temporary]) await changeOwner(own, user);

  let isGiven = false;
  const giveSource = async (): Promise<void> => {
    if (user && !isGiven) await changeOwner(folder.source, user);
    isGiven = true;
  };
  /** Kills a reading process that exceeds its time or memory: other processes of its user could suspend it for ever. */
  const readAsUser = (cwd: string): GuardedProcess => {
    const limits = { withInput: false, graceSeconds: 0, outputMs: bounds.installMs };
    const reading = startGuarded({ command: 'tar', args: ['-cf', '-', '.'], cwd, env, user, ...limits }, clock);
    const over = new AbortController();
    const bound = AbortSignal.any([over.signal, signal]);
    void reading.ended.then(() => over.abort());
    void Promise.race([pause(clock, bounds.installMs, bound), watch(bound)]).then(reading.kill, reading.kill);
    return reading;
  };
  const context = {
    request: masked,
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

  const obtained = await obtainSource({ ...context, run: beginPart(bounds.cloneMs) });
  if (!obtained.ok || signal.aborted) return obtained.ok ? stepFailed('') : obtained;
  await step?.('cloned');

  const what = request.from.kind === 'tarball' ? 'source tarball' : 'repository';
  const config = findGraphConfig(folder.source, graphConfigPath, { log: masked.log, warn }, what);
  if (!config.ok) return config;
  const source = realpathSync(folder.source);
  const { file: graphConfigFile, content } = config.value;
  const agent = { source, file: graphConfigFile, config: content, program: settings.program };
  const installed = await installAgent(agent, { ...context, run: beginPart(bounds.installMs) });
  if (!installed.ok || signal.aborted) return installed.ok ? stepFailed('') : installed;
  const preparing = { ...agent, log: masked.log, warn };
  await step?.('installed');

  if (buildCommand !== undefined) {
    log('info', `Building: ${buildCommand}`);
    const spec = { command: '/bin/sh', args: ['-c', buildCommand], cwd: dirname(graphConfigFile) };
    const end = await beginPart(bounds.buildMs)(spec);
    if (end.kind !== 'done')
      return stepFailed(end.kind === 'failed' ? failure('source_config.build_command', end) : '');
  }
  const bundled = await bundleUi({ ...preparing, run: beginPart(bounds.buildMs) });
  if (!bundled.ok) return bundled;
  const read = await readTypes({ ...preparing, run: beginPart(Math.min(typesMs, bounds.buildMs)) });
  if (!read.ok) return read;
  if (installed.value.python) {
    const importing = { ...preparing, run: beginPart(Math.min(typesMs, bounds.buildMs)) };
    const imported = await importGraphs(importing, interpreterIn(folder.python));
    if (!imported.ok) return imported;
  }
  await step?.('built');
  return succeeded({ folder: folder.root, from: obtained.value, graphConfigFile, ...installed.value });
}

/** Validates a command again at the moment of use. */
const problemOf = (name: string, command: string | undefined): string | undefined =>
  command === undefined ? undefined : commandProblem(`source_config.${name}`, command);

const largest = 1_000_000;

/**
 * The graph configuration of a checkout, and the real path of its file: it must be inside, also after following links,
 * be valid, and name graphs that this machine can run. Writes every problem to the log.
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
  if (stat.size > largest) return stepFailed(`${graphConfigPath} is larger than ${largest} bytes.`);

  const read = readGraphConfig(readFileSync(file, 'utf8'), graphConfigPath);
  const problems = read.ok ? inOrder([...read.refused, ...read.imageOnly]) : read.problems;
  if (!read.ok || problems.length > 0) {
    for (const problem of problems) log('error', formatProblem(problem));
    // A misspelled key may cause the other problems: a problem with a suggestion explains most.
    const reporting = problems.find(({ suggestion }) => suggestion !== undefined) ?? problems[0];
    const more = problems.length <= 1 ? '' : ` (and ${problems.length - 1} more in the build log)`;
    return stepFailed(
      `The graph configuration is invalid: ${reporting ? formatProblem(reporting) : graphConfigPath}${more}.`,
    );
  }
  for (const warning of read.warnings) warn(formatProblem(warning));
  const runnable = checkRunnable(graphLocations(read.value), { python: true });
  return runnable.kind === 'runnable' ? succeeded({ file, content: read.value }) : stepFailed(runnable.reason);
}
