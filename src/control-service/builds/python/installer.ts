import { minorOf } from '../../../agent-packages/python/python-version.ts';
import { withoutUv, type PythonInstall } from '../../../agent-packages/python/python-plan.ts';
import { stepFailed, succeeded, type RunningBuild, type StepResult } from '../build.ts';
import { findTool } from '../find-tool.ts';
import { failure } from '../run-command.ts';
import {
  chooseInterpreter,
  describedInterpreters,
  describeInterpreters,
  interpreterPaths,
  namedInterpreters,
  targetMinor,
  type Interpreter,
  type WantedInterpreter,
} from './interpreter.ts';
import { tellsUvAnIndex } from './python-variables.ts';
import { pipHasOwnIndex, provideUv } from './uv.ts';

/** A plan with what carries it out. */
export interface Installer {
  plan: PythonInstall;
  interpreter: Interpreter;
  /** The program uv; absent where pip installs. */
  uv: string | undefined;
  /** Whether pip tries what uv can't install. */
  fallsBackToPip?: boolean;
}

/** The interpreter for an agent, of those that the build's user can run. */
export async function findInterpreter(
  wanted: WantedInterpreter,
  running: RunningBuild,
): Promise<StepResult<Interpreter>> {
  const path = running.env.PATH ?? '';
  const minor = targetMinor(wanted);
  // Usually it has its name. Others are only run where it isn't there: what a version manager puts in their places is slow.
  const named = await described(namedInterpreters(minor, path), running);
  if (!named.ok) return named;
  const fits = named.value.find((each) => minorOf(each.version) === minor && each.makesEnvironments);
  const all = fits ? succeeded([fits]) : await described(interpreterPaths(path), running);
  if (!all.ok) return all;
  const choice = chooseInterpreter(all.value, wanted);
  if (choice.kind === 'none') return stepFailed(choice.reason);
  if (choice.warning !== undefined) running.warn(choice.warning);
  const { interpreter } = choice;
  running.request.log('info', `Using Python ${interpreter.version} (${interpreter.path}).`);
  return succeeded(interpreter);
}

async function described(paths: readonly string[], { run, folder }: RunningBuild): Promise<StepResult<Interpreter[]>> {
  if (paths.length === 0) return succeeded([]);
  const end = await run({ command: '/bin/sh', args: describeInterpreters(paths), cwd: folder.home, silent: true });
  if (end.kind !== 'done') return stepFailed(end.kind === 'failed' ? failure('Looking for Python', end) : '');
  return succeeded(describedInterpreters(end.output));
}

/**
 * Decides who installs: uv, which the package index has too; pip where it is asked for, has an index of its own, or uv
 * can't be had.
 *
 * @param hasUvIndex whether the source tells uv where packages are, which pip would take from elsewhere.
 */
export async function findInstaller(
  plan: PythonInstall,
  interpreter: Interpreter,
  running: RunningBuild,
  hasUvIndex: boolean,
): Promise<StepResult<Installer>> {
  const { log } = running.request;
  const byPip = { plan, interpreter, uv: undefined };
  if (plan.installer === 'pip') return succeeded(byPip);
  const mayUsePip = plan.installer === 'either' && interpreter.makesEnvironments && !hasUvIndex;
  const isThere = findTool('uv', running.env.PATH ?? '') !== undefined;
  if (mayUsePip && !isThere && (await pipHasOwnIndex(interpreter, running))) {
    log('info', 'Using pip: it has an index of its own, and uv is not installed on this machine.');
    return succeeded(byPip);
  }
  const uv = await provideUv(interpreter, running);
  const fallsBackToPip = mayUsePip && !isThere && !tellsUvAnIndex(running.env);
  if (uv.ok) return succeeded({ plan, interpreter, uv: uv.value, fallsBackToPip });
  if (running.signal.aborted) return uv;
  if (fallsBackToPip) {
    log('info', `Using pip. ${uv.reason}`);
    return succeeded(byPip);
  }
  if (hasUvIndex || tellsUvAnIndex(running.env))
    return stepFailed(`Only uv knows where the packages are. ${uv.reason}`);
  if (plan.locked?.isRequired === true || !interpreter.makesEnvironments)
    return stepFailed(`${plan.why}. ${uv.reason}`);
  log('warning', uv.reason);
  return succeeded({ plan: withoutUv(plan), interpreter, uv: undefined });
}
