import { sameCommit } from '../../contract/control/repo-ref.ts';
import { didYouMean } from '../../kit/diagnostics/did-you-mean.ts';
import type { EnvironmentGate } from '../file/environment-gate.ts';
import { decideApproval, type ApprovingPerson, type Reviewers } from '../rules/environment-protection.ts';
import { frozenNow } from '../rules/environment-gate.ts';
import { commands, type Command, type CommandName } from './definitions.ts';
import type { CommandRefusal, Permission } from './outcomes.ts';

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
  pull: { isOpen: boolean; isMerged: boolean };
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

/** What the deploy file says of a deployment and of those who may act on it. */
export interface CommandTerms {
  deploymentName: string;
  environment: { production: boolean };
  /** Logins of those who may act on it where its environment is production; absent: all who may write. */
  admins?: readonly string[];
  /** The file speaks of admins, and could not be read. */
  areAdminsUnknown?: true;
  /** It gets what this one has proven. */
  promotedFrom?: { name: string };
}

/** Why a person with write access may not act on a deployment: it is production, and `admins` of the deploy file do not name them. */
export function refusalOfProduction(
  { deploymentName: deployment, environment, admins, areAdminsUnknown }: CommandTerms,
  login: string,
): CommandRefusal | undefined {
  // Nor is it known then which deployments are production.
  if (areAdminsUnknown) return { code: 'file-unread', deployment };
  if (!environment.production) return undefined;
  const isAdmin = admins?.some((each) => each.toLowerCase() === login.toLowerCase()) ?? true;
  return isAdmin ? undefined : { code: 'not-admin', login, deployment };
}

type FreezeTerms = Pick<CommandTerms, 'deploymentName' | 'promotedFrom'> & { gate?: EnvironmentGate };

/** Why nothing is deployed now: its environment is frozen. A rollback does not ask. */
export function refusalOfFreeze(
  { deploymentName: deployment, gate, promotedFrom }: FreezeTerms,
  now: number,
): CommandRefusal | undefined {
  const frozen = frozenNow(gate, now);
  return frozen && { code: 'frozen', deployment, command: promotedFrom ? 'promote' : 'deploy', ...frozen };
}

/** Whether a person may approve a deploy to a GitHub environment; `team`: as a member of that. */
export function refusalOfApproval(
  { environment, reviewers }: { environment: string; reviewers: Reviewers },
  person: ApprovingPerson,
): { kind: 'approved'; team?: string } | { kind: 'refused'; refusal: CommandRefusal } {
  const decided = decideApproval(reviewers, person);
  if (decided.kind === 'approved') return decided;
  const { kind, ...why } = decided;
  return { kind, refusal: { login: person.login, environment, ...why } };
}

/** A deployment that a branch of the pull request is for. */
export interface Candidate {
  target: { deploymentId?: string | undefined; terms: Pick<CommandTerms, 'deploymentName' | 'promotedFrom'> };
  branch: string;
  /** It is the branch of the pull request itself, and not the one that it goes to. */
  isOfPull: boolean;
}

/** What the branches of a pull request deploy. */
export interface Candidates<Each extends Candidate = Candidate> {
  branches: readonly string[];
  candidates: readonly Each[];
  /** Those that are not acted upon; `why` is fit to show. */
  refused: readonly { deployment: string; why: string }[];
}

type Chosen<Value> = { ok: true; value: Value } | { ok: false; refusal: CommandRefusal };

const no = (refusal: CommandRefusal): { ok: false; refusal: CommandRefusal } => ({ ok: false, refusal });

/** The deployment that a command is about: the one that it names, or the only one. Nothing is guessed. */
export function chooseDeployment<Each extends Candidate>(
  { deployment: written }: Pick<Command, 'deployment'>,
  { branches, candidates, refused }: Candidates<Each>,
): Chosen<Each> {
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

/**
 * Those that a command without a name can be about: `/promote` is for environments that come after others, where there
 * are some, and every other one for those to which commits are pushed. `/status` is about all.
 */
export function meantBy<Each extends Candidate>(
  { name, deployment }: Pick<Command, 'name' | 'deployment'>,
  found: Candidates<Each>,
): Candidates<Each> {
  if (deployment !== undefined) return found;
  const isLater = ({ target }: Each) => target.terms.promotedFrom !== undefined;
  const later = found.candidates.filter(isLater);
  const meant = name === 'promote' && later.length > 0 ? later : found.candidates.filter((each) => !isLater(each));
  return { ...found, candidates: meant };
}

/** Every deployment that a command is about: the one that it names, or all. */
export function chooseDeployments<Each extends Candidate>(
  command: Command,
  found: Candidates<Each>,
): Chosen<readonly Each[]> {
  if (command.deployment === undefined && found.candidates.length > 0) return { ok: true, value: found.candidates };
  const chosen = chooseDeployment(command, found);
  return chosen.ok ? { ok: true, value: [chosen.value] } : chosen;
}

const isNamed = ({ target }: Candidate, written: string): boolean =>
  target.terms.deploymentName === written || target.deploymentId === written.toLowerCase();

/** Several of one name are told apart by their ids. */
const labelOf = ({ target: { deploymentId, terms } }: Candidate, _: number, all: readonly Candidate[]): string =>
  all.filter(({ target }) => target.terms.deploymentName === terms.deploymentName).length > 1
    ? (deploymentId ?? terms.deploymentName)
    : terms.deploymentName;

/** Why the head of a branch is not deployed; undefined if it is the commit that was given, or none was. */
export function refusalOfCommit(
  commit: string | undefined,
  { branch }: Pick<Candidate, 'branch'>,
  head: string | undefined,
): CommandRefusal | undefined {
  if (head === undefined) return { code: 'branch-gone', branch };
  if (commit === undefined || sameCommit(commit, head)) return undefined;
  return { code: 'not-head', commit, head, branch };
}

/**
 * Why the head of a pull request gets no preview by a command. What a fork changes may come after the person looked at
 * it, so that its commit is named, and in full: one that is abbreviated can be made to fit another one.
 */
export function refusalOfHead(
  { commit }: Pick<Command, 'commit'>,
  { headSha: head, isFork }: { headSha: string; isFork: boolean },
): CommandRefusal | undefined {
  if (isFork && (commit === undefined || commit.length < head.length)) return { code: 'fork-commit', head };
  const isHead = isFork ? commit?.toLowerCase() === head.toLowerCase() : sameCommit(commit, head);
  return commit === undefined || isHead ? undefined : { code: 'not-pull-head', commit, head };
}

/** How far the clocks of GitHub, the service and the one that runs this may be apart (ms). */
const skewMs = 10_000;

/** Whether something happened at one of these times (ms) only since a comment was written. Unknown times are before. */
export const isAfterComment = (writtenAt: number, times: readonly (number | undefined)[]): boolean =>
  times.some((at) => at !== undefined && at > writtenAt + skewMs);

/** The time (ms) of a moment that a service names; undefined if it names none. */
export function timeOf(moment: string | undefined): number | undefined {
  const at = Date.parse(moment ?? '');
  return Number.isNaN(at) ? undefined : at;
}

/** Whether a deployment is production: as its file says, else by its type or the name of its environment. */
export const isProduction = (
  environment: { name: string; production?: boolean | undefined },
  deploymentType: string | null | undefined,
): boolean => environment.production ?? (deploymentType === 'prod' || environment.name.toLowerCase() === 'production');
