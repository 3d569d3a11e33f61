import type { Candidate, Candidates } from '../../deploy/commands/decide.ts';
import type { CommandRefusal } from '../../deploy/commands/outcomes.ts';
import type { PushedDeployment } from '../../deploy/file/desired.ts';
import { readPushed } from '../../deploy/file/read-desired.ts';
import { sameRepository } from '../../deploy/file/repository-url.ts';
import { workspaceCases } from '../../host/workspace.ts';
import { formatProblem } from '../../kit/diagnostics/problem.ts';
import type { CommandPull } from './command-pull.ts';

/** A deployment of the deploy file that a command may be about. */
export interface WorkflowCandidate extends Candidate {
  /** What the input `deployment` chooses it by; undefined where the file has only one. */
  key: string | undefined;
  entry: PushedDeployment;
}

/** The deploy file of the default branch. */
export interface CommandFile {
  text: string;
  path: string;
}

type Found = { ok: true; found: Candidates<WorkflowCandidate> } | { ok: false; refusal: CommandRefusal };

/**
 * The deployments of the deploy file that the branches of a pull request deploy: the branch that it goes to, and its
 * own, unless that is of a fork. One that is built from no branch belongs to each.
 *
 * @param only the one that the workflow is for, where its input names one
 */
export function candidatesOf(file: CommandFile, only: string | undefined, pull: CommandPull): Found {
  const read = readPushed(file, workspaceCases);
  const [problem] = read.ok ? [] : read.problems;
  if (!read.ok)
    return { ok: false, refusal: { code: 'file-wrong', text: problem ? formatProblem(problem) : file.path } };
  const branches = [...new Set([pull.baseBranch, ...(pull.headBranch === undefined ? [] : [pull.headBranch])])];
  const candidates: WorkflowCandidate[] = [];
  const refused: { deployment: string; why: string }[] = [];
  for (const each of read.deployments) {
    const name = each.name ?? each.deploymentId ?? each.key ?? file.path;
    if (only !== undefined && each.key !== only && each.name !== only) continue;
    if (!each.read.ok) {
      const [first] = each.read.problems;
      refused.push({ deployment: name, why: `its entry has a mistake: ${first ? formatProblem(first) : ''}` });
      continue;
    }
    const branch = branchOf(each.read.value, pull);
    if (branch === undefined || !branches.includes(branch)) continue;
    const { after } = each.read.value;
    const promotedFrom = after && { promotedFrom: { name: after.name ?? after.deploymentId ?? '' } };
    const terms = { deploymentName: name, ...promotedFrom };
    const target = { deploymentId: each.deploymentId, terms };
    candidates.push({ target, branch, isOfPull: branch !== pull.baseBranch, key: each.key, entry: each.read.value });
  }
  return { ok: true, found: { branches, candidates, refused } };
}

/** The branch of this repository that a deployment is built from; that of the pull request's base where it is of none. */
function branchOf(
  { desired }: PushedDeployment,
  { baseBranch, defaultBranch, repositoryUrl }: CommandPull,
): string | undefined {
  // A folder is uploaded as it is checked out here.
  if (desired.source === 'internal_source') return defaultBranch;
  if (desired.source !== 'github') return baseBranch;
  if (desired.repoUrl !== undefined && !sameRepository(desired.repoUrl, repositoryUrl)) return undefined;
  return desired.repoRef;
}
