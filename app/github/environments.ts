import { type GitHubClient, paginate, type ResponseOf } from '../../src/github/client.ts';
import { unlessMissing } from './failure.ts';
import {
  GitHubApiError,
  type EnvironmentProtection,
  type InstallationRepository,
  type ProtectionRead,
  type ReviewerTeam,
} from './github-api.ts';
import type { AppRoute } from './installation-clients.ts';

type Client = GitHubClient<AppRoute>;

/** More policies of branches are not read. */
const maxPolicies = 200;

/** The protection of an environment, as far as it counts for deploys of a branch. */
export async function readProtection(
  client: Client,
  { owner, name: repo }: InstallationRepository,
  environment: string,
  branch: string,
): Promise<ProtectionRead> {
  const place = { owner, repo, environment_name: environment };
  const found = await readEnvironment(client, place);
  if (found === undefined || found === 'unread') return { kind: found ?? 'none' };
  const { protection_rules: rules = [], deployment_branch_policy: policy } = found;
  const protection: EnvironmentProtection = { waitMinutes: 0, unknown: [...(await customRules(client, place))] };
  for (const rule of rules) {
    if (rule.type === 'wait_timer' && 'wait_timer' in rule) protection.waitMinutes = rule.wait_timer ?? 0;
    else if (rule.type === 'required_reviewers' && 'reviewers' in rule) protection.reviewers = reviewersOf(rule, owner);
    else if (rule.type !== 'branch_policy') protection.unknown.push(rule.type);
  }
  if (policy?.protected_branches) {
    const isProtected = await countsAsProtected(client, { owner, repo, branch });
    protection.branches = { kind: 'protected', isProtected };
  } else if (policy?.custom_branch_policies)
    protection.branches = { kind: 'patterns', patterns: await branchPatterns(client, place) };
  // Branches are restricted, and it is not said to which.
  else if (rules.some(({ type }) => type === 'branch_policy')) protection.unknown.push('branch_policy');
  return { kind: 'protected', protection };
}

/** What GitHub answers to an App that lacks a permission; other refusals, of addresses for example, are failures. */
const lacksPermission = (error: unknown): boolean =>
  error instanceof GitHubApiError && error.status === 403 && /not accessible by integration/i.test(error.message);

/** Undefined where there is none; `unread` as long as no owner has accepted the permission. */
async function readEnvironment(
  client: Client,
  place: EnvironmentPlace,
): Promise<ResponseOf<'GET /repos/{owner}/{repo}/environments/{environment_name}'>['data'] | 'unread' | undefined> {
  try {
    const route = 'GET /repos/{owner}/{repo}/environments/{environment_name}';
    return (await unlessMissing(client.request(route, place)))?.data;
  } catch (error) {
    if (lacksPermission(error)) return 'unread';
    throw error;
  }
}

interface ReviewersRule {
  prevent_self_review?: boolean;
  reviewers?: readonly { type?: string; reviewer?: { login?: string; slug?: string } }[];
}

/** An unknown kind of reviewer is nobody who could approve. */
function reviewersOf(
  { reviewers = [], prevent_self_review: preventsSelfReview = false }: ReviewersRule,
  organisation: string,
): NonNullable<EnvironmentProtection['reviewers']> {
  return {
    users: reviewers.flatMap(({ type, reviewer }) => (type === 'User' && reviewer?.login ? [reviewer.login] : [])),
    teams: reviewers.flatMap(({ type, reviewer }) =>
      type === 'Team' && reviewer?.slug ? [{ organisation, slug: reviewer.slug }] : [],
    ),
    preventsSelfReview,
  };
}

interface EnvironmentPlace {
  owner: string;
  repo: string;
  environment_name: string;
}

/** The names of the Apps that decide about the environment. A server without them has none. */
async function customRules(client: Client, place: EnvironmentPlace): Promise<string[]> {
  const found = await unlessMissing(
    client.request('GET /repos/{owner}/{repo}/environments/{environment_name}/deployment_protection_rules', place),
  );
  const rules = found?.data.custom_deployment_protection_rules ?? [];
  return rules.filter(({ enabled }) => enabled).map(({ app }) => app.slug);
}

/** As GitHub has it: where no branch of a repository is protected, each of them may be deployed. */
async function countsAsProtected(
  client: Client,
  { owner, repo, branch }: { owner: string; repo: string; branch: string },
): Promise<boolean> {
  const found = await unlessMissing(
    client.request('GET /repos/{owner}/{repo}/branches/{branch}', { owner, repo, branch }),
  );
  if (found?.data.protected === true && found.data.name === branch) return true;
  const isOne = { owner, repo, protected: true, per_page: 1 };
  return (await client.request('GET /repos/{owner}/{repo}/branches', isOne)).data.length === 0;
}

async function branchPatterns(client: Client, place: EnvironmentPlace): Promise<string[]> {
  const patterns: string[] = [];
  const policies = paginate(async (page) => {
    const { data } = await client.request(
      'GET /repos/{owner}/{repo}/environments/{environment_name}/deployment-branch-policies',
      { ...place, ...page },
    );
    return data.branch_policies;
  });
  for await (const { name, type } of policies) {
    if (name !== undefined && type !== 'tag') patterns.push(name);
    if (patterns.length >= maxPolicies) break;
  }
  return patterns;
}

/** Whether a person is in a team; `unread`: the App has no permission to know. */
export async function readMembership(
  client: Client,
  { organisation, slug }: ReviewerTeam,
  username: string,
): Promise<'member' | 'other' | 'unread'> {
  try {
    const found = await unlessMissing(
      client.request('GET /orgs/{org}/teams/{team_slug}/memberships/{username}', {
        org: organisation,
        team_slug: slug,
        username,
      }),
    );
    return found?.data.state === 'active' ? 'member' : 'other';
  } catch (error) {
    if (lacksPermission(error)) return 'unread';
    throw error;
  }
}

/** The logins of those who wrote a commit, as far as GitHub knows them. */
export async function readCommitPeople(
  client: Client,
  { owner, name: repo }: InstallationRepository,
  commit: string,
): Promise<string[]> {
  const found = await unlessMissing(
    client.request('GET /repos/{owner}/{repo}/commits/{ref}', { owner, repo, ref: commit }),
  );
  const people = [found?.data.author, found?.data.committer];
  return people.flatMap((person) => (person && 'login' in person && person.login ? [person.login] : []));
}
