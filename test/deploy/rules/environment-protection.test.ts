import { expect, test } from 'vitest';
import {
  decideApproval,
  decideProtection,
  type ApprovalDecision,
  type ApprovingPerson,
  type ProtectedRequest,
  type Protection,
  type ProtectionDecision,
  type Reviewers,
} from '../../../src/deploy/rules/environment-protection.ts';

const minute = 60_000;
const open: Protection = { waitMinutes: 0, unknown: [] };
const ops = { organisation: 'acme', slug: 'ops' };
const reviewers: Reviewers = { users: ['Octocat'], teams: [ops], preventsSelfReview: false };
const reviewed: Protection = { ...open, reviewers };
const patterns = (...all: string[]): Protection => ({ ...open, branches: { kind: 'patterns', patterns: all } });
const request: ProtectedRequest = { environment: 'production', branch: 'main', requestedAt: 0, approvals: [] };
const approvedBy = (by: string, team?: string): ProtectedRequest => ({
  ...request,
  approvals: [{ by, at: 1, ...(team === undefined ? {} : { team }) }],
});

const environment = 'production';
const pass: ProtectionDecision = { kind: 'pass' };
const awaits: ProtectionDecision = {
  kind: 'await',
  code: 'reviewers',
  environment,
  names: ['Octocat', 'acme/ops'],
  count: 2,
};
const notAllowed = (branch: string): ProtectionDecision => ({
  kind: 'skip',
  code: 'branch-not-allowed',
  environment,
  branch,
});

test.each<[sentence: string, protection: Protection, request: ProtectedRequest, now: number, ProtectionDecision]>([
  ['nothing', open, request, 0, pass],
  [
    'a wait timer',
    { ...open, waitMinutes: 5 },
    request,
    4 * minute,
    { kind: 'await', code: 'wait-timer', environment, until: 5 * minute },
  ],
  ['a wait timer that is over', { ...open, waitMinutes: 5 }, request, 5 * minute, pass],
  ['reviewers', reviewed, request, 0, awaits],
  ['an approval of a person, in any case', reviewed, approvedBy('octocat'), 0, pass],
  ['an approval of a member', reviewed, approvedBy('mona', 'acme/ops'), 0, pass],
  ['an approval of one who is no reviewer any more', reviewed, approvedBy('mona'), 0, awaits],
  ['an approval of a team that is none any more', reviewed, approvedBy('mona', 'acme/dev'), 0, awaits],
  [
    'nobody who could approve',
    { ...open, reviewers: { ...reviewers, users: [], teams: [] } },
    approvedBy('octocat'),
    0,
    { kind: 'await', code: 'reviewers', environment, names: [], count: 0 },
  ],
  ['reviewers before a timer', { ...reviewed, waitMinutes: 5 }, request, 0, awaits],
  [
    'a timer after the approval',
    { ...reviewed, waitMinutes: 5 },
    approvedBy('octocat'),
    0,
    { kind: 'await', code: 'wait-timer', environment, until: 5 * minute },
  ],
  ['a protected branch', { ...open, branches: { kind: 'protected', isProtected: true } }, request, 0, pass],
  ['another branch', { ...open, branches: { kind: 'protected', isProtected: false } }, request, 0, notAllowed('main')],
  [
    'a branch that is not allowed, although it is approved',
    { ...reviewed, ...patterns('next') },
    approvedBy('octocat'),
    0,
    notAllowed('main'),
  ],
  [
    'rules of others',
    { ...reviewed, unknown: ['datadog'] },
    approvedBy('octocat'),
    0,
    { kind: 'skip', code: 'protection-unknown', environment, rules: ['datadog'] },
  ],
])('%s', (_, protection, of, now, decision) => {
  expect(decideProtection(protection, of, now)).toEqual(decision);
});

test.each([
  ['main', 'main', true],
  ['main', 'Main', false],
  ['release/*', 'release/1', true],
  ['release/*', 'release/1/2', false],
  ['*', 'release/1', false],
  ['*', 'main', true],
  ['release-?', 'release-1', true],
  ['release-[0-9]', 'release-7', true],
  ['{main,next}', 'main', false],
  ['{main,next}', '{main,next}', true],
  ['mai[', 'main', false],
  ['', 'main', false],
  ['**', 'main', true],
])('the pattern %s of branches, for %s: %s', (pattern, branch, isAllowed) => {
  const decision = decideProtection(patterns(pattern), { ...request, branch }, 0);
  expect(decision).toEqual(isAllowed ? pass : notAllowed(branch));
});

const person: ApprovingPerson = { login: 'mona', memberships: [], requesters: ['hubot'] };
const member = (is: 'member' | 'other' | 'unread') => ({ team: ops, is });
const prevents = { ...reviewers, preventsSelfReview: true };

test.each<[sentence: string, reviewers: Reviewers, person: ApprovingPerson, ApprovalDecision]>([
  ['a reviewer', reviewers, { ...person, login: 'OCTOCAT' }, { kind: 'approved' }],
  [
    'a member of a team',
    reviewers,
    { ...person, memberships: [member('member')] },
    { kind: 'approved', team: 'acme/ops' },
  ],
  [
    'another person',
    reviewers,
    { ...person, memberships: [member('other')] },
    { kind: 'refused', code: 'not-reviewer', names: ['Octocat', 'acme/ops'] },
  ],
  [
    'one of whom the team is not known',
    reviewers,
    { ...person, memberships: [member('unread')] },
    { kind: 'refused', code: 'team-unread', team: 'acme/ops' },
  ],
  [
    'who requested it, where that may be',
    reviewers,
    { ...person, login: 'octocat', requesters: ['octocat'] },
    { kind: 'approved' },
  ],
  [
    'who requested it, where it may not be',
    prevents,
    { ...person, login: 'octocat', requesters: ['hubot', 'OctoCat'] },
    { kind: 'refused', code: 'own-review' },
  ],
  ['another reviewer, where it may not be', prevents, { ...person, login: 'octocat' }, { kind: 'approved' }],
])('an approval by %s', (_, of, by, decision) => {
  expect(decideApproval(of, by)).toEqual(decision);
});
