import { compileGlob } from '../file/glob.ts';
import type { AwaitDecision, Decision } from './trigger-types.ts';

/** A team of an organisation. */
export interface Team {
  organisation: string;
  slug: string;
}

/** Who has to approve before an environment is deployed to: one of them does. */
export interface Reviewers {
  users: readonly string[];
  teams: readonly Team[];
  /** Whoever requested the deploy may not approve it. */
  preventsSelfReview: boolean;
}

/** What GitHub requires of deploys to an environment. */
export interface Protection {
  waitMinutes: number;
  /** Absent: every branch may be deployed. `isProtected`: whether the branch of the request is. */
  branches?: { kind: 'protected'; isProtected: boolean } | { kind: 'patterns'; patterns: readonly string[] };
  reviewers?: Reviewers;
  /** Rules that others decide, such as Apps. */
  unknown: readonly string[];
}

/** An approval of one request. `team`: the person gave it as a member of that team. */
export interface Approval {
  by: string;
  team?: string;
  /** ms since the epoch */
  at: number;
}

/** A request that is to be deployed to a protected environment. */
export interface ProtectedRequest {
  environment: string;
  branch: string;
  /** ms since the epoch */
  requestedAt: number;
  approvals: readonly Approval[];
}

export type ProtectionDecision =
  { kind: 'pass' } | AwaitDecision<'reviewers' | 'wait-timer'> | Extract<Decision, { kind: 'skip' }>;

/** The most steps that matching a pattern may take. */
const maxSteps = 10_000;

/** The most names that a decision keeps. */
const maxNames = 6;

/** Decides whether the protection of an environment lets a request pass now. What is unknown lets nothing pass. */
export function decideProtection(
  { waitMinutes, branches, reviewers, unknown }: Protection,
  { environment, branch, requestedAt, approvals }: ProtectedRequest,
  now: number,
): ProtectionDecision {
  if (unknown.length > 0)
    return { kind: 'skip', code: 'protection-unknown', environment, rules: unknown.slice(0, maxNames) };
  if (branches && !isAllowed(branches, branch))
    return { kind: 'skip', code: 'branch-not-allowed', environment, branch };
  if (reviewers && !approvals.some((approval) => isByReviewer(approval, reviewers))) {
    const names = reviewerNames(reviewers);
    return { kind: 'await', code: 'reviewers', environment, names: names.slice(0, maxNames), count: names.length };
  }
  const until = requestedAt + waitMinutes * 60_000;
  return now < until ? { kind: 'await', code: 'wait-timer', environment, until } : { kind: 'pass' };
}

function isAllowed(branches: NonNullable<Protection['branches']>, branch: string): boolean {
  if (branches.kind === 'protected') return branches.isProtected;
  return branches.patterns.some((pattern) => pattern === branch || matches(pattern, branch));
}

/** Braces stand for themselves in GitHub's patterns. A pattern that is not understood matches nothing else. */
function matches(pattern: string, branch: string): boolean {
  const compiled = /[{}]/.test(pattern) ? undefined : compileGlob(pattern);
  return compiled?.ok === true && compiled.matches(branch, { left: maxSteps });
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Whether one of the reviewers of now gave it: who did may have been removed since. */
const isByReviewer = ({ by, team }: Approval, { users, teams }: Reviewers): boolean =>
  users.some((user) => isSame(user, by)) || (team !== undefined && teams.some((each) => isSame(nameOf(each), team)));

/** `acme/ops` */
const nameOf = ({ organisation, slug }: Team): string => `${organisation}/${slug}`;

const reviewerNames = ({ users, teams }: Reviewers): string[] => [...users, ...teams.map(nameOf)];

/** What is known of a person who approves. */
export interface ApprovingPerson {
  login: string;
  /** Whether they are in each of the teams; `unread`: the App may not know. */
  memberships: readonly { team: Team; is: 'member' | 'other' | 'unread' }[];
  /** Logins of those who requested the deploy, or wrote the commit. */
  requesters: readonly string[];
}

/** Whether a person may approve, or why they may not. */
export type ApprovalDecision =
  | { kind: 'approved'; team?: string }
  | { kind: 'refused'; code: 'own-review' }
  | { kind: 'refused'; code: 'not-reviewer'; names: readonly string[] }
  | { kind: 'refused'; code: 'team-unread'; team: string };

/** Decides whether a person may approve a request. */
export function decideApproval(
  reviewers: Reviewers,
  { login, memberships, requesters }: ApprovingPerson,
): ApprovalDecision {
  if (reviewers.preventsSelfReview && requesters.some((each) => isSame(each, login)))
    return { kind: 'refused', code: 'own-review' };
  if (reviewers.users.some((user) => isSame(user, login))) return { kind: 'approved' };
  const member = memberships.find(({ is }) => is === 'member');
  if (member) return { kind: 'approved', team: nameOf(member.team) };
  const unread = memberships.find(({ is }) => is === 'unread');
  if (unread) return { kind: 'refused', code: 'team-unread', team: nameOf(unread.team) };
  return { kind: 'refused', code: 'not-reviewer', names: reviewerNames(reviewers).slice(0, maxNames) };
}
