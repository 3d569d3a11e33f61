import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { inFolder, planInstall, unlockedWarning } from '../agent-packages/install-plan.ts';
import { lockedEngineProblem, projectFolders } from '../agent-packages/project-folders.ts';
import type { Desired } from '../config/desired.ts';
import { formatProblem, type Problem } from '../diagnostics/problem.ts';
import { missingCodes, unlessCode } from '../errors.ts';
import type { Workflow } from '../planning/commit.ts';
import { isRepositoryNamed } from '../planning/repository-url.ts';

/** A graph configuration file, and what is deployed whole, from the working directory. */
interface Deployed {
  path: string;
  root: string;
}

/**
 * What a build of the agents will refuse or warn of before it installs their packages. Only lock files and package.json
 * files are read, from each graph configuration up to what is deployed whole.
 */
export function packageProblems(deployed: readonly Deployed[]): { problems: Problem[]; warnings: Problem[] } {
  const found = deployed.map(problemsOf);
  return { problems: once(found.map(({ problem }) => problem)), warnings: once(found.map(({ warning }) => warning)) };
}

/**
 * What a build will say of the packages, where the source is at hand: in the folder that would be uploaded, or in the working
 * directory, unless a workflow runs for another repository.
 */
export function notesOnPackages(
  desired: Desired,
  workflow: Workflow | undefined,
): { failures: string[]; warnings: string[] } {
  const none = { failures: [], warnings: [] };
  if (desired.source !== 'internal_source' && desired.source !== 'github') return none;
  const { installCommand, graphConfigPath } = desired;
  const root = desired.source === 'internal_source' ? desired.sourceDir : '.';
  if (root === undefined || graphConfigPath === undefined || installCommand !== undefined) return none;
  const path = join(root, graphConfigPath);
  if (isOfAnother(desired, workflow) || !existsSync(path)) return none;
  const { problems, warnings } = packageProblems([{ path, root }]);
  return {
    failures: problems.map((problem) => `a build of the files here fails: ${formatProblem(problem)}`),
    warnings: warnings.map((warning) => `a build of the files here warns: ${formatProblem(warning)}`),
  };
}

function isOfAnother(desired: Desired, workflow: Workflow | undefined): boolean {
  if (desired.source !== 'github' || desired.repoUrl === undefined || workflow === undefined) return false;
  const [owner = '', name = ''] = workflow.repository.split('/');
  return !isRepositoryNamed(desired.repoUrl, owner, name);
}

function problemsOf({ path, root }: Deployed): { problem?: Problem; warning?: Problem } {
  const [source, folder] = [root, dirname(path)].map((each) =>
    unlessCode(missingCodes, undefined, () => realpathSync(each)),
  );
  if (source === undefined || folder === undefined || leadsOut(relative(source, folder))) return {};
  const plan = planInstall(undefined, projectFolders(folder, source));
  if (plan.kind !== 'manager') return {};
  const at = (file: string, message: string): Problem => {
    const place = root === '.' ? file : inFolder(file, root);
    return { file: place, line: 1, column: 1, field: '', message: message.replace(/\.$/, '') };
  };
  if (plan.lock === undefined) return { warning: at(inFolder('package.json', plan.folder), unlockedWarning(plan.why)) };
  const refused = lockedEngineProblem(plan, source);
  return refused ? { problem: at(refused.file, refused.message) } : {};
}

const leadsOut = (way: string): boolean => way === '..' || way.startsWith(`..${sep}`);

/** Agents of one workspace share its lock file. */
const once = (problems: readonly (Problem | undefined)[]): Problem[] => [
  ...new Map(problems.flatMap((each) => (each ? [[`${each.file}: ${each.message}`, each]] : []))).values(),
];
