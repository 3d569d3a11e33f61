import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { pathInFolder, planInstall, unlockedWarning } from '../agent-folder/packages/install-plan.ts';
import { lockedPythonEngineProblem, planPython } from '../agent-folder/packages/python/python-plan.ts';
import { pythonSource } from '../agent-folder/packages/python/python-project.ts';
import { lockedEngineProblem, projectFolders } from '../agent-folder/packages/project-folders.ts';
import type { Desired } from '../deploy/file/desired.ts';
import { fieldName, formatProblem, problemOfFile, type Problem } from '../kit/diagnostics/problem.ts';
import { missingCodes, unlessCode } from '../kit/errors.ts';
import { packagesNeeded } from '../agent-folder/graph-config/language.ts';
import { readGraphConfig, type ReadGraphConfig } from '../agent-folder/graph-config/read.ts';
import type { Workflow } from '../deploy/file/workflow.ts';
import { isRepositoryNamed } from '../deploy/file/repository-url.ts';

/** A graph configuration file, and what is deployed whole, from the working directory. */
interface Deployed {
  path: string;
  root: string;
}

interface Found {
  problems: Problem[];
  warnings: Problem[];
}

/**
 * What a build of the agents will refuse or warn of before it installs their packages. Only graph configurations, lock
 * files and manifests are read, from each graph configuration up to what is deployed whole.
 */
export function packageProblems(deployed: readonly Deployed[]): Found {
  const found = deployed.flatMap((each) => {
    const read = readConfig(each.path);
    const needs = read?.ok === true ? packagesNeeded(read.value) : { node: true, python: false };
    return [
      ...(needs.node ? [nodeProblems(each)] : []),
      ...(needs.python && read?.ok ? [pythonProblems(each, read)] : []),
    ];
  });
  return {
    problems: once(found.flatMap(({ problems }) => problems)),
    warnings: once(found.flatMap(({ warnings }) => warnings)),
  };
}

const readConfig = (path: string): ReadGraphConfig | undefined => {
  const text = unlessCode([...missingCodes, 'EISDIR'], undefined, () => readFileSync(path, 'utf8'));
  return text === undefined ? undefined : readGraphConfig(text, path);
};

/**
 * What a build will say of the packages, where the source is at hand: in the folder that would be uploaded, or in the
 * working directory, unless a workflow runs for another repository.
 */
export function notesOnPackages(
  desired: Desired,
  workflow: Workflow | undefined,
): { failures: string[]; warnings: string[] } {
  const none = { failures: [], warnings: [] };
  if (desired.source !== 'internal_source' && desired.source !== 'github') return none;
  const { installCommand, graphConfigPath } = desired;
  const root = desired.source === 'internal_source' ? desired.sourceDir : '.';
  if (root === undefined || graphConfigPath === undefined) return none;
  const path = join(root, graphConfigPath);
  if (isOfAnother(desired, workflow) || !existsSync(path)) return none;
  const { problems, warnings } = packageProblems(installCommand === undefined ? [{ path, root }] : []);
  const read = readConfig(path);
  const refused = read?.ok === true ? [...read.refused, ...read.imageOnly] : [];
  return {
    failures: [...refused, ...problems].map((problem) => `a build of the files here fails: ${formatProblem(problem)}`),
    warnings: warnings.map((warning) => `a build of the files here warns: ${formatProblem(warning)}`),
  };
}

function isOfAnother(desired: Desired, workflow: Workflow | undefined): boolean {
  if (desired.source !== 'github' || desired.repoUrl === undefined || workflow === undefined) return false;
  const [owner = '', name = ''] = workflow.repository.split('/');
  return !isRepositoryNamed(desired.repoUrl, owner, name);
}

/** The real paths of what is deployed whole and of the configuration's folder in it. */
function placesOf({ path, root }: Deployed): { source: string; folder: string } | undefined {
  const [source, folder] = [root, dirname(path)].map((each) =>
    unlessCode(missingCodes, undefined, () => realpathSync(each)),
  );
  if (source === undefined || folder === undefined || leadsOut(relative(source, folder))) return undefined;
  return { source, folder };
}

function nodeProblems(deployed: Deployed): Found {
  const none = { problems: [], warnings: [] };
  const places = placesOf(deployed);
  if (!places) return none;
  const plan = planInstall(undefined, projectFolders(places.folder, places.source));
  if (plan.kind !== 'manager') return none;
  const at = (file: string, message: string): Problem => problemIn(deployed, file, message);
  if (plan.lockFile === undefined)
    return { ...none, warnings: [at(pathInFolder('package.json', plan.folder), unlockedWarning(plan.reason))] };
  const refused = lockedEngineProblem(plan, places.source);
  return refused ? { ...none, problems: [at(refused.file, refused.message)] } : none;
}

/** A problem of a file of the source, as it is called from the working directory. */
const problemIn = ({ root }: Deployed, file: string, message: string): Problem =>
  problemOfFile(root === '.' ? file : pathInFolder(file, root), message.replace(/\.$/, ''));

function pythonProblems(deployed: Deployed, read: Extract<ReadGraphConfig, { ok: true }>): Found {
  const places = placesOf(deployed);
  if (!places) return { problems: [], warnings: [] };
  const folder = relative(places.source, places.folder).split(sep).join('/');
  const source = pythonSource(places.source, folder);
  const plan = planPython(read.value, source);
  if (plan.kind === 'refused') {
    const field = fieldName(plan.path);
    const problem = { file: deployed.path, ...read.placeOf(plan.path), field, message: `\`${field}\` ${plan.message}` };
    return { problems: [problem], warnings: [] };
  }
  const tooOld = lockedPythonEngineProblem(plan, source);
  if (tooOld) {
    return { problems: [problemIn(deployed, tooOld.file, tooOld.message)], warnings: [] };
  }
  const at = read.placeOfKey(['dependencies']);
  const warnings = plan.warnings.map((message) => ({
    file: deployed.path,
    ...at,
    field: 'dependencies',
    message: message.replace(/\.$/, ''),
  }));
  return { problems: [], warnings };
}

const leadsOut = (way: string): boolean => way === '..' || way.startsWith(`..${sep}`);

/** Agents of one workspace share its lock file. */
const once = (problems: readonly Problem[]): Problem[] => [
  ...new Map(problems.map((each) => [`${each.file}: ${each.message}`, each])).values(),
];
