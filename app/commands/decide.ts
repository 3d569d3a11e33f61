import { sameCommit } from '../../src/contract/control/repo-ref.ts';
import { didYouMean } from '../../src/kit/diagnostics/did-you-mean.ts';
import type { Target, Targets } from '../context.ts';
import type { Permission, PullRequestState } from '../github/github-api.ts';
import type { Terms } from '../reconcile/deploy-request.ts';
import { commands, type Command, type CommandName } from './definitions.ts';
import type { CommandRefusal } from './outcomes.ts';

/** The permissions with which a person may give commands. */
const writePermissions: ReadonlySet<Permission> = new Set(['admin', 'write']);

/** Why a person may not act in a repository; undefined if they may. */
export const refusalOfPerson = (login: string, permission: Permission): CommandRefusal | undefined =>
  writePermissions.has(permission) ? undefined : { code: 'no-write', login, permission };

/** After this time a command changes nothing any more (ms): what it is about may be another by then. */
const maxAgeMs = 30 * 60_000;

/** What is known of a command besides the deployments. */
export interface CommandFacts {
  isLocked: boolean;
  pull: Pick<PullRequestState, 'isOpen' | 'isMerged'>;
  /** ms since it was written */
  ageMs: number;
}

/** Why a command of a person who may give it is refused here and now; undefined if it is not. */
export function refusalOfCommand(
  name: CommandName,
  { isLocked, pull, ageMs }: CommandFacts,
): CommandRefusal | undefined {
  if (isLocked) return { code: 'locked' };
  const { on } = commands[name];
  if (on !== 'any' && ageMs > maxAgeMs) return { code: 'late', minutes: Math.floor(ageMs / 60_000) };
  if (on === 'open' && !pull.isOpen) return { code: 'not-open' };
  if (on === 'kept' && !pull.isOpen && !pull.isMerged) return { code: 'closed-unmerged' };
  return undefined;
}

/** Why a person with write access may not act on a deployment: it is production, and `admins` of the deploy file do not name them. */
export function refusalOfProduction(
  { deploymentName: deployment, environment, admins, areAdminsUnknown }: Terms,
  login: string,
): CommandRefusal | undefined {
  // Nor is it known then which deployments are production.
  if (areAdminsUnknown) return { code: 'file-unread', deployment };
  if (!environment.production) return undefined;
  const isAdmin = admins?.some((each) => each.toLowerCase() === login.toLowerCase()) ?? true;
  return isAdmin ? undefined : { code: 'not-admin', login, deployment };
}

/** A deployment that a branch of the pull request is for. */
export interface Candidate {
  target: Target;
  branch: string;
  /** It is the branch of the pull request itself, and not the one that it goes to. */
  isOfPull: boolean;
}

/** What the branches of a pull request deploy. */
export interface Candidates {
  branches: readonly string[];
  candidates: readonly Candidate[];
  refused: Targets['refused'];
}

type Chosen<Value> = { ok: true; value: Value } | { ok: false; refusal: CommandRefusal };

const no = (refusal: CommandRefusal): { ok: false; refusal: CommandRefusal } => ({ ok: false, refusal });

/** The deployment that a command is about: the one that it names, or the only one. Nothing is guessed. */
export function chooseDeployment(
  { deployment: written }: Pick<Command, 'deployment'>,
  { branches, candidates, refused }: Candidates,
): Chosen<Candidate> {
  const names = [...new Set(candidates.map(({ target }) => target.terms.deploymentName))];
  const matching = written === undefined ? candidates : candidates.filter((each) => isNamed(each, written));
  const [first, ...others] = matching;
  if (first && others.length === 0) return { ok: true, value: first };
  if (first) return no({ code: 'several-deployments', names: matching.map(labelOf) });
  const kept = refused.find(({ deployment }) => written === undefined || deployment === written);
  if (kept) return no({ code: 'deployment-refused', deployment: kept.deployment, why: kept.why });
  if (written === undefined) return no({ code: 'no-deployment', branches });
  return no({ code: 'unknown-deployment', written, meant: didYouMean(written, names), names });
}

/** Every deployment that a command is about: the one that it names, or all. */
export function chooseDeployments(command: Command, found: Candidates): Chosen<readonly Candidate[]> {
  if (command.deployment === undefined && found.candidates.length > 0) return { ok: true, value: found.candidates };
  const chosen = chooseDeployment(command, found);
  return chosen.ok ? { ok: true, value: [chosen.value] } : chosen;
}

const isNamed = ({ target }: Candidate, written: string): boolean =>
  target.terms.deploymentName === written || target.deploymentId === written.toLowerCase();

/** Several of one name are told apart by their ids. */
const labelOf = ({ target: { deploymentId, terms } }: Candidate, _: number, all: readonly Candidate[]): string =>
  all.filter(({ target }) => target.terms.deploymentName === terms.deploymentName).length > 1
    ? deploymentId
    : terms.deploymentName;

/** Why the head of a branch is not deployed; undefined if it is the commit that was given, or none was. */
export function refusalOfCommit(
  commit: string | undefined,
  { branch }: Candidate,
  head: string | undefined,
): CommandRefusal | undefined {
  if (head === undefined) return { code: 'branch-gone', branch };
  if (commit === undefined || sameCommit(commit, head)) return undefined;
  return { code: 'not-head', commit, head, branch };
}
