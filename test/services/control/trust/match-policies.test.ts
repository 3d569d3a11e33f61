import { describe, expect, test } from 'vitest';
import { githubIssuer, type ClaimRule } from '../../../../src/contract/control/trust-policy.ts';
import {
  grantOf,
  isLike,
  satisfies,
  claimRulesProblem,
} from '../../../../src/services/control/trust/match-policies.ts';

const claims = {
  iss: githubIssuer,
  aud: 'https://control.test',
  sub: 'repo:acme/support:environment:production',
  repository: 'acme/support',
  repository_id: '7',
  repository_owner_id: '3',
  ref: 'refs/heads/release/4',
  run_attempt: 2,
  groups: ['acme'],
};
const policy = (rules: Record<string, ClaimRule>, terms: object = {}) => ({
  issuer: githubIssuer,
  audience: 'https://control.test',
  claims: rules,
  scopes: ['deploy' as const],
  key_minutes: 60,
  ...terms,
});

describe('a token satisfies a policy', () => {
  test.each<[what: string, rules: Record<string, ClaimRule>]>([
    ['with a claim as it is named', { repository_id: '7' }],
    ['with every claim that is named', { repository_id: '7', repository_owner_id: '3', ref: 'refs/heads/release/4' }],
    ['with one of several values', { ref: ['refs/heads/main', 'refs/heads/release/4'] }],
    ['with a number that is written alike', { run_attempt: '2' }],
    ['with a part where the wildcard is', { ref: { like: 'refs/heads/release/*' } }],
    ['with parts where two wildcards are', { sub: { like: 'repo:acme/*:environment:*' } }],
  ])('%s', (_, rules) => {
    expect(satisfies(claims, policy(rules))).toBe(true);
  });

  test('of several audiences', () => {
    expect(satisfies({ ...claims, aud: ['https://other.test', 'https://control.test'] }, policy({}))).toBe(true);
  });
});

describe('a token does not satisfy a policy', () => {
  test.each<[what: string, rules: Record<string, ClaimRule>]>([
    ['with another value', { repository_id: '8' }],
    ['with one wrong claim of several', { repository_id: '7', repository_owner_id: '4' }],
    ['that lacks the claim', { environment: 'production' }],
    ['with a property that every object has', { constructor: { like: '*a*' } }],
    ['whose value only begins like it', { repository: 'acme' }],
    ['in another case', { repository: 'Acme/support' }],
    ['of another owner for a wildcard that reaches no slash', { repository: { like: '*port' } }],
    ['of a subject whose wildcard would reach a colon', { sub: { like: 'repo:acme/*' } }],
    ['with nothing where the wildcard is', { ref: { like: 'refs/heads/release/4*' } }],
    ['where a star is meant as text', { ref: 'refs/heads/release/*' }],
    ['where a dot is no wildcard', { ref: { like: 'refs.heads/release/*' } }],
    ['with a list where a text is named', { groups: 'acme' }],
  ])('%s', (_, rules) => {
    expect(satisfies(claims, policy(rules))).toBe(false);
  });

  test.each([
    ['another issuer', { issuer: 'https://issuer.test' }],
    ['a longer issuer', { issuer: `${githubIssuer}/acme` }],
    ['another audience', { audience: 'https://control.test/' }],
  ])('of %s', (_, terms) => {
    expect(satisfies(claims, policy({}, terms))).toBe(false);
  });
});

test('a pattern is followed in time in proportion to the text, whatever it is', () => {
  expect(isLike(`${'-'.repeat(999)}y`, `${'*-'.repeat(200)}x`)).toBe(false);
  expect(isLike('a-b-c-d', '*-*-*')).toBe(true);
  expect(isLike('x'.repeat(1_001), '*x')).toBe(false);
});

test('several policies give all their scopes, for the shortest time', () => {
  const other = policy({}, { scopes: ['agent', 'read'], key_minutes: 10 });
  expect(grantOf([policy({}), other])).toEqual({ scopes: ['read', 'deploy', 'agent'], minutes: 10 });
});

test.each<[what: string, issuer: string, rules: Record<string, ClaimRule>]>([
  ['GitHub by ids', githubIssuer, { repository_id: '7', repository_owner_id: ['3'] }],
  ['another issuer by its subject', 'https://issuer.test', { sub: 'pipeline' }],
  ['another issuer by a project', 'https://issuer.test', { project_id: '7', sub: { like: 'project_path:*/*' } }],
])('claims are enough: %s', (_, issuer, rules) => {
  expect(claimRulesProblem({ issuer, claims: rules })).toBeUndefined();
});

test.each<[what: string, issuer: string, rules: Record<string, ClaimRule>, words: string]>([
  ['GitHub by name', githubIssuer, { repository: 'acme/support', repository_owner_id: '3' }, 'by their ids'],
  ['GitHub without the owner', githubIssuer, { repository_id: '7' }, 'by their ids'],
  ['GitHub with a pattern of ids', githubIssuer, { repository_id: { like: '7*' }, repository_owner_id: '3' }, 'ids'],
  ['another issuer without a subject', 'https://issuer.test', { project: '7' }, 'claims.sub'],
  ['another issuer with a pattern alone', 'https://issuer.test', { sub: { like: '*:*' } }, 'without a pattern'],
  ['an enterprise of GitHub by name', `${githubIssuer}/acme`, { sub: 'repo:acme/support' }, 'by their ids'],
])('claims are too weak: %s', (_, issuer, rules, words) => {
  expect(claimRulesProblem({ issuer, claims: rules })).toContain(words);
});
