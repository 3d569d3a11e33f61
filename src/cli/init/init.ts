import { lstatSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { deploymentNameProblem } from '../../contract/control/field-values.ts';
import { defaultConfigPath } from '../../deploy/file/deploy-file.ts';
import { webAddressOf } from '../../deploy/file/repository-url.ts';
import { git } from '../../host/git-head.ts';
import { problemOfFile } from '../../kit/diagnostics/problem.ts';
import { codeOf } from '../../kit/errors.ts';
import { exitCodes, refuseFor, refuseInput, type ExitCode } from '../problems.ts';
import type { Terminal } from '../terminal.ts';
import { printValidation } from '../validate.ts';
import { actionSource, commandHere } from './this-package.ts';
import { findAgent } from './find-agent.ts';
import { deployFileOf, secretsOf, workflowOf } from './written-files.ts';

const workflowPath = '.github/workflows/landfall.yml';

/** What `landfall init` was given; `root` is the folder of this package. */
export interface InitRequest {
  root: string;
  agent: string | undefined;
  name: string | undefined;
  copyAction: boolean;
  dryRun: boolean;
}

/** Writes what an agent needs to be deployed, leaves every file that exists alone, and validates the result. */
export async function initCommand(request: InitRequest, terminal: Terminal): Promise<ExitCode> {
  const found = findAgent(request.agent);
  if (!found.ok) return refuseInput(found.problems, exitCodes.wrongUsage, terminal);
  const { agent } = found;
  const name = request.name?.trim() || agent.name;
  const wrong = deploymentNameProblem(name);
  if (wrong !== undefined)
    return refuseInput([problemOfFile('--name', `the name ${wrong}`)], exitCodes.wrongUsage, terminal);
  const repository = await readRepository();
  const { uses, files } = actionSource(request.root, request.copyAction);
  const wanted = new Map([
    [defaultConfigPath, deployFileOf(agent, name, repository.source)],
    [workflowPath, workflowOf(agent, { uses, branch: repository.branch })],
  ]);
  const existing = [...wanted.keys(), ...files.keys()].filter(isThere);
  const written = [...wanted, ...files].filter(([path]) => !existing.includes(path));
  const paths = written.map(([path]) => path);
  terminal.print(`Found the agent ${agent.configPath}: ${agent.graphs.map(({ graphId }) => graphId).join(', ')}.`);
  for (const path of shortened(existing, uses)) terminal.print(`exists and stays as it is: ${path}`);
  if (request.dryRun) {
    for (const [path, text] of wanted) if (paths.includes(path)) terminal.print(`\n--- ${path}\n${text}`);
    for (const path of shortened(paths, uses)) terminal.print(`would write ${path}`);
    terminal.conclude({ written: [], would_write: paths, existing });
    return exitCodes.passes;
  }
  const failed = writeAll(written);
  const done = failed === undefined ? paths : paths.slice(0, paths.indexOf(failed.path));
  for (const path of shortened(done, uses)) terminal.print(`wrote ${path}`);
  if (failed !== undefined) {
    const advice = `Make ${dirname(failed.path)} a folder that you may write to, and run landfall init again. It keeps what exists.`;
    return refuseFor(`${failed.path} cannot be written (${failed.code}).`, advice, terminal);
  }
  terminal.print('');
  const validation = await printValidation({}, terminal);
  if (repository.top !== undefined && repository.top !== realpathSync('.')) {
    terminal.complain(
      `GitHub reads workflows at the top of a repository only. Move ${workflowPath} there, or run landfall init in ${repository.top}.`,
    );
  }
  if (validation.fine) for (const line of nextSteps(commandHere(request.root), secretsOf(agent))) terminal.print(line);
  terminal.conclude({ written: paths, existing, ...validation });
  return validation.fine ? exitCodes.passes : exitCodes.wrongUsage;
}

/** Whether a path is taken, also by a link to nothing, which a new file could not replace. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Writes new files in turn, until one of them fails. */
function writeAll(files: readonly [path: string, text: string][]): { path: string; code: string } | undefined {
  for (const [path, text] of files) {
    try {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text, { flag: 'wx' });
    } catch (error) {
      const code = codeOf(error);
      if (code === '') throw error;
      return { path, code };
    }
  }
  return undefined;
}

/** The paths, with one for all files of a copied Action. */
const shortened = (paths: readonly string[], uses: string): string[] => [
  ...new Set(paths.map((path) => (`./${path}`.startsWith(`${uses}/`) ? `${uses.slice(2)}/` : path))),
];

/** What git says of the working directory: the top of the repository, its default branch, where it is hosted. */
async function readRepository() {
  const line = async (...args: string[]): Promise<string | undefined> => (await git(args))?.trim() || undefined;
  const top = await line('rev-parse', '--show-toplevel');
  const head = await line('symbolic-ref', '--short', 'refs/remotes/origin/HEAD');
  const branch = head?.replace(/^origin\//, '') ?? (await line('symbolic-ref', '--short', 'HEAD')) ?? 'main';
  const url = webAddressOf((await line('remote', 'get-url', 'origin')) ?? '');
  return { top, branch, source: url === undefined ? undefined : { url, branch } };
}

const nextSteps = (command: string, secrets: readonly string[]): string[] => [
  '',
  'Next, on this machine:',
  '  1. Start a control service, which prints two variables:',
  `     ${command} local`,
  '  2. In a second terminal, set these variables, or log in once with landfall login, and deploy:',
  `     ${command} deploy`,
  'And on every push:',
  '  3. On GitHub, add the variable LANDFALL_BASE_URL and the secret LANDFALL_API_KEY of your control service.',
  ...(secrets.length > 0 ? [`     Add the secrets of the agent too: ${secrets.join(', ')}.`] : []),
  '  4. Commit these files and push.',
];
