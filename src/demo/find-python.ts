import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  chooseInterpreter,
  describedInterpreters,
  describeInterpreters,
  interpreterPaths,
} from '../services/control/builds/python/interpreter.ts';

const run = promisify(execFile);

/** A small package, to find out whether pip reaches its index. */
const small = 'iniconfig';

/**
 * Why an agent in Python can't be deployed on this machine; undefined where it can.
 *
 * @param folder for what is tried; it does not exist yet.
 */
export async function whyNoPython(folder: string): Promise<string | undefined> {
  const paths = interpreterPaths(process.env['PATH'] ?? '');
  const described = paths.length === 0 ? '' : (await run('/bin/sh', describeInterpreters(paths))).stdout;
  const choice = chooseInterpreter(describedInterpreters(described.split('\n')), { needsPip: true });
  if (choice.kind === 'none') return choice.reason;
  const quick = ['--quiet', '--no-input', '--disable-pip-version-check', '--retries=0', '--timeout=10'];
  const download = ['-I', '-m', 'pip', 'download', ...quick, '--no-deps', '--dest', join(folder, 'packages'), small];
  try {
    await run(choice.interpreter.path, ['-I', '-m', 'venv', folder], { timeout: 120_000 });
    await run(join(folder, 'bin', 'python'), download, { timeout: 60_000 });
    return undefined;
  } catch {
    return `pip of Python ${choice.interpreter.version} gets no package from its index.`;
  }
}
