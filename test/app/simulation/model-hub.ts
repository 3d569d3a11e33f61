import type { Permission } from '../../../src/deploy/commands/outcomes.ts';
import {
  GitHubApiError,
  type InstallationCheckKey,
  type CheckContent,
  type CommitChecks,
  type Comparison,
  type InstallationDeploymentKey,
  type DeploymentContent,
  type Head,
  type GitHubApi,
  type PullRequestKey,
  type ProtectionRead,
  type PullRequestState,
  type ReviewerTeam,
  type Reaction,
  type InstallationRepository,
} from '../../../app/github/github-api.ts';
import type { RequiredCheck, SeenCheck } from '../../../src/deploy/rules/after-checks.ts';
import type { ModelGit } from './model-git.ts';

/** A check run as GitHub shows it. */
export interface ShownCheck {
  id: number;
  name: string;
  headSha: string;
  externalId: string;
  content: CheckContent;
  /** `status` or `status/conclusion` of every write, in order. */
  said: string[];
}

/** A GitHub Deployment with its states. */
export interface ShownDeployment {
  id: number;
  commit: string;
  externalId: string;
  environment: string;
  states: DeploymentContent['state'][];
}

/** A comment of the App on a pull request. */
export interface ShownComment {
  id: number;
  pull: number;
  body: string;
}

/** A person who may comment on a public repository, and nothing more. */
export const stranger = 'mallory';

/** GitHub over a model of git: it keeps what was reported to it and never fails by itself. */
export class ModelHub implements GitHubApi {
  readonly git: ModelGit;
  readonly checks: ShownCheck[] = [];
  readonly deployments: ShownDeployment[] = [];
  /** Files by path, of whatever commit. */
  readonly files = new Map<string, string>();
  /** What each person may do but `stranger`. */
  permission: Permission = 'write';
  /** The App no longer reaches the repository. */
  isGone = false;
  /** The checks of others by commit and name, and those that every branch requires. */
  readonly others = new Map<string, Map<string, SeenCheck>>();
  required: readonly RequiredCheck[] = [];
  /** The protection of every environment but `open`, who is in which team, and who wrote every commit. */
  protection: ProtectionRead = { kind: 'none' };
  open: string | undefined;
  readonly teams = new Map<string, Map<string, 'member' | 'unread'>>();
  people: readonly string[] = [];
  /** Pull requests by number. */
  readonly pulls = new Map<number, PullRequestState>();
  readonly comments: ShownComment[] = [];
  /** The reactions to each comment of people, in order. */
  readonly reactions = new Map<number, Reaction[]>();

  constructor(git: ModelGit) {
    this.git = git;
  }

  /** The check of a name on a commit, as people see it: the newest of several. */
  check(headSha: string, name: string): ShownCheck | undefined {
    return this.checks.findLast((each) => each.headSha === headSha && each.name === name);
  }

  async head(_at: InstallationRepository, branch: string): Promise<Head | undefined> {
    return this.git.head(branch);
  }

  async compare(_at: InstallationRepository, base: string, head: string): Promise<Comparison> {
    return this.git.compare(base, head);
  }

  async file(_at: InstallationRepository, path: string, _ref: string): Promise<string | undefined> {
    return this.files.get(path);
  }

  async defaultBranch(): Promise<string> {
    return 'main';
  }

  async permissionOf(_at: InstallationRepository, login: string, _userId?: number): Promise<Permission> {
    return login === stranger ? 'none' : this.permission;
  }

  async checksOf(_at: InstallationRepository, commit: string): Promise<CommitChecks> {
    return { seen: [...(this.others.get(commit)?.values() ?? [])] };
  }

  async environmentProtection(_at: InstallationRepository, environment: string): Promise<ProtectionRead> {
    return environment === this.open ? { kind: 'none' } : this.protection;
  }

  async membershipOf(_at: InstallationRepository, { slug }: ReviewerTeam, login: string) {
    return this.teams.get(slug)?.get(login) ?? 'other';
  }

  async peopleOf(): Promise<readonly string[]> {
    return this.people;
  }

  async requiredChecks(): Promise<readonly RequiredCheck[]> {
    return this.required;
  }

  /** A check of others comes to a state. */
  setCheck(commit: string, check: SeenCheck): void {
    this.others.set(commit, (this.others.get(commit) ?? new Map<string, SeenCheck>()).set(check.name, check));
  }

  async writeCheck(at: InstallationCheckKey, id: number | undefined, content: CheckContent): Promise<number> {
    if (!this.git.commits.has(at.headSha))
      throw new GitHubApiError(`No commit found for SHA: ${at.headSha}`, 422, 'none');
    if ((content.status === 'completed') !== (content.conclusion !== undefined)) {
      throw new GitHubApiError('conclusion goes with completed, and only with it', 422, 'none');
    }
    const found =
      this.checks.find((each) => each.id === id) ??
      this.checks.find((each) => each.externalId === at.externalId && each.headSha === at.headSha);
    const said = content.conclusion ? `${content.status}/${content.conclusion}` : content.status;
    if (found) {
      found.content = content;
      found.said.push(said);
      return found.id;
    }
    if (id !== undefined) throw new GitHubApiError(`There is no check run ${id}`, 404, 'none');
    const { name, headSha, externalId } = at;
    this.checks.push({ id: this.checks.length + 1, name, headSha, externalId, content, said: [said] });
    return this.checks.length;
  }

  async makeDeployment(at: InstallationDeploymentKey, content: DeploymentContent): Promise<number> {
    const found = this.deployments.find(({ externalId }) => externalId === at.externalId);
    if (found) return found.id;
    const id = this.deployments.length + 1;
    const { commit, externalId } = at;
    this.deployments.push({ id, commit, externalId, environment: content.environment, states: [] });
    return id;
  }

  async writeDeploymentStatus(_at: InstallationDeploymentKey, id: number, content: DeploymentContent): Promise<void> {
    const found = this.deployments.find((each) => each.id === id);
    if (!found) throw new GitHubApiError(`There is no deployment ${id}`, 404, 'none');
    found.states.push(content.state);
  }

  async pullRequest({ number }: PullRequestKey): Promise<PullRequestState | undefined> {
    return this.isGone ? undefined : structuredClone(this.pulls.get(number));
  }

  async writeComment({ number }: PullRequestKey, id: number | undefined, body: string): Promise<number> {
    const known = this.comments.find((each) => each.id === id) ?? this.comments.find(({ pull }) => pull === number);
    if (known) {
      known.body = body;
      return known.id;
    }
    const made = { id: this.comments.length + 1, pull: number, body };
    this.comments.push(made);
    return made.id;
  }

  async react(_at: InstallationRepository, commentId: number, reaction: Reaction): Promise<void> {
    const former = this.reactions.get(commentId) ?? [];
    if (!former.includes(reaction)) this.reactions.set(commentId, [...former, reaction]);
  }
}
