import { apiKeyScopes, type ApiKeyScope } from '../../../contract/control/api-key-scopes.ts';
import { githubIssuer, type ClaimRule } from '../../../contract/control/trust-policy.ts';

/** The claims of a verified token. */
export type Claims = Readonly<Record<string, unknown>>;

/** What a policy demands and gives. */
export interface PolicyTerms {
  issuer: string;
  audience: string;
  claims: Readonly<Record<string, ClaimRule>>;
  scopes: readonly ApiKeyScope[];
  key_minutes: number;
}

/** Whether a verified token satisfies a policy: issuer, audience and every claim that it names. */
export function satisfies(claims: Claims, { issuer, audience, claims: rules }: PolicyTerms): boolean {
  const audiences: unknown[] = Array.isArray(claims['aud']) ? claims['aud'] : [claims['aud']];
  return (
    claims['iss'] === issuer &&
    audiences.includes(audience) &&
    Object.entries(rules).every(([name, rule]) => Object.hasOwn(claims, name) && fits(claims[name], rule))
  );
}

/** Only plain values are compared: what an object or a list is written as is nobody's rule. */
function fits(value: unknown, rule: ClaimRule): boolean {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return false;
  const text = String(value);
  if (typeof rule === 'string') return text === rule;
  return Array.isArray(rule) ? rule.includes(text) : patternOf(rule.like).test(text);
}

/** A wildcard stands for one part of a path or of a subject, so that it reaches no other owner and no other ref. */
const patternOf = (like: string): RegExp =>
  new RegExp(
    `^${like
      .split(/\*+/)
      .map((part) => RegExp.escape(part))
      .join('[^/:]+')}$`,
    'u',
  );

/** What all matching policies give together: every scope of any of them, for the shortest time. */
export function grantOf(policies: readonly PolicyTerms[]): { scopes: ApiKeyScope[]; minutes: number } {
  return {
    scopes: apiKeyScopes.filter((scope) => policies.some(({ scopes }) => scopes.includes(scope))),
    minutes: Math.min(...policies.map(({ key_minutes }) => key_minutes)),
  };
}

/** Ids of a repository and its owner: another repository may have a name later, but never an id. */
const githubIds = ['repository_id', 'repository_owner_id'] as const;

/** Why claims are too weak for a policy; undefined where they are not. */
export function weakness({ issuer, claims }: Pick<PolicyTerms, 'issuer' | 'claims'>): string | undefined {
  if (issuer !== githubIssuer) {
    return Object.hasOwn(claims, 'sub')
      ? undefined
      : 'Name the subject of the tokens in claims.sub: without it every token of this issuer would be accepted.';
  }
  const isId = (rule: ClaimRule | undefined): boolean =>
    rule !== undefined &&
    (typeof rule === 'string' || Array.isArray(rule)) &&
    [rule].flat().every((id) => /^\d+$/.test(id));
  return githubIds.every((name) => isId(claims[name]))
    ? undefined
    : 'Name the repository and its owner by their ids in claims.repository_id and claims.repository_owner_id: a name can pass to another repository. `gh api repos/OWNER/NAME --jq .id,.owner.id` prints them.';
}
