import { minorOf } from '../../../../agent-folder/packages/python/python-versions.ts';
import { withoutUv, type PythonInstall } from '../../../../agent-folder/packages/python/python-plan.ts';
import { stepFailed, succeeded, type StepResult } from '../build.ts';
import type { RunningBuild } from '../running-build.ts';
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
import { downloadUv, pipHasOwnIndex } from './uv.ts';

/** A plan with what carries it out. */
export interface Installer {
  plan: PythonInstall;
  interpreter: Interpreter;
  /** The program uv; absent where pip installs. */
  uv: string | undefined;
  /** Whether the build tries again with pip if uv fails. */
  fallsBackToPip?: boolean;
}

/** The interpreter for an agent, of those that the build's user can run. */
export async function findInterpreter(
  wanted: WantedInterpreter,
  running: RunningBuild,
): Promise<StepResult<Interpreter>> {
  const path = running.env.PATH ?? '';
  const minor = targetMinor(wanted);
  // By the name of its version first, and others only without a match: the shims of version managers are slow.
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
 * Chooses uv, downloaded if needed, or pip if the plan says so or uv can't be had. @param hasUvIndex whether the
 * project configures an index that only uv reads.
 */
export async function findInstaller(
  plan: PythonInstall,
  interpreter: Interpreter,
  running: RunningBuild,
  hasUvIndex: boolean,
): Promise<StepResult<Installer>> {
  const { log } = running.request;
  const withPip = { plan, interpreter, uv: undefined };
  if (plan.installer === 'pip') return succeeded(withPip);
  const uv = findTool('uv', running.env.PATH ?? '');
  if (uv !== undefined) return succeeded({ plan, interpreter, uv });
  const mayUsePip = plan.installer === 'either' && interpreter.makesEnvironments && !hasUvIndex;
  if (mayUsePip && (await pipHasOwnIndex(interpreter, running))) {
    log('info', 'Using pip with the index that it is told of: uv is not installed on this machine.');
    return succeeded(withPip);
  }
  const isIndexOfUv = hasUvIndex || tellsUvAnIndex(running.env);
  const fallsBackToPip = mayUsePip && !isIndexOfUv;
  const downloaded = await downloadUv(interpreter, running);
  if (downloaded.ok) return succeeded({ plan, interpreter, uv: downloaded.value, fallsBackToPip });
  if (running.signal.aborted) return downloaded;
  if (fallsBackToPip) {
    log('info', `${downloaded.reason} Using pip.`);
    return succeeded(withPip);
  }
  if (isIndexOfUv) return stepFailed(`The package index is configured for uv alone. ${downloaded.reason}`);
  if (plan.locked?.isRequired === true || !interpreter.makesEnvironments)
    return stepFailed(`${plan.why}. ${downloaded.reason}`);
  log('warning', `${downloaded.reason} Using pip.`);
  return succeeded({ plan: withoutUv(plan), interpreter, uv: undefined });
}
