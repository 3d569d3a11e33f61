import { realpathSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import { inFolder, planInstall, unlockedWarning } from '../agent-packages/install-plan.ts';
import { lockedEngineProblem, projectFolders } from '../control-service/builds/project-folders.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { missingCodes, unlessCode } from '../errors.ts';

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
