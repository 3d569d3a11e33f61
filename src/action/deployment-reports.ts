import type { Mode } from '../deploy/file/entry-options.ts';
import { shortCommit } from '../contract/control/repo-ref.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import type { DeployEvent } from '../deploy/machine/deploy-event.ts';
import type { GitHubClient, RepositoryName } from '../github/client.ts';
import {
  makeDeployment,
  newestStatus,
  writeDeploymentStatus,
  outcomeShown,
  type GitHubDeployment,
} from '../github/deployment.ts';
import { ownDeployments, retireDeployments, type OwnDeployments } from '../github/own-deployments.ts';
import { rolledBackTo } from '../deploy/words/result-json.ts';
import { asLine } from '../deploy/words/sanitize.ts';

/** What of this run is shown on GitHub, and where. */
export interface RunReport {
  mode: Mode;
  repository: RepositoryName;
  /** The web address of the repository: what is built from it is reported on the commit that was built. */
  repositoryUrl: string;
  /** The commit that the run is of: the head of a pull request, never its merge. */
  commit: string;
  /** The run or the pull request that this step is of, and its place there: it finds the comments of this step again. */
  step?: string | undefined;
  /** Ours, of this attempt of this step: it finds the GitHub Deployment again. */
  externalId: string;
  /** The deployment, as people name it; absent where the step ended before it knew. */
  name?: string | undefined;
  runUrl?: string | undefined;
  /** What the comment is about: one is kept for each. Absent with the name. */
  about?: string | undefined;
  /** Given: keeps one comment on it. */
  pullRequest?: number | undefined;
  /** If set: what the run does to this environment is shown by GitHub Deployments. */
  environment?: { name: string; production: boolean; transient: boolean } | undefined;
}

/** Does something on GitHub; false where it failed, after a warning with what failed and the permission it takes. */
export type Attempt = (what: string, permission: string, work: (attempt: number) => Promise<void>) => Promise<boolean>;

interface Options {
  client: GitHubClient;
  run: RunReport & { environment: NonNullable<RunReport['environment']> };
  warn: (message: string) => void;
  attempt: Attempt;
}

const permission = 'deployments: write';

/**
 * Shows by GitHub Deployments what a run does to an environment: the one that it deploys, those that no longer serve
 * after it, and none where a deletion leaves nothing.
 */
export class DeploymentReports {
  readonly #options: Options;
  /** The one of this run, and its commit. */
  #made: { id: number; commit: string } | undefined;
  /** Whether a revision is on its way that the GitHub Deployment is about. */
  #started = false;
  /** GitHub does not take it: one warning is enough. */
  #refused = false;

  constructor(options: Options) {
    this.#options = options;
  }

  async emit(event: DeployEvent): Promise<void> {
    const { mode, name, commit } = this.#options.run;
    if (mode !== 'deploy') return;
    if (event.kind === 'started') {
      this.#started = true;
      await this.#show(
        { state: 'in_progress', description: `${name}: revision ${event.revisionId} ${event.how}` },
        commit,
      );
    }
    if (event.kind === 'smoke-began' && this.#started) {
      await this.#show({ state: 'in_progress', description: `${name}: live, running smoke tests` }, commit);
    }
  }

  /** @param built the commit that the outcome's revision was built from, where it is of this repository */
  async concluded(outcome: Outcome, built: string | undefined): Promise<void> {
    switch (this.#options.run.mode) {
      case 'deploy':
        return this.#deployed(outcome, built ?? this.#options.run.commit);
      case 'rollback':
        return this.#rolledBack(outcome, built);
      case 'delete':
        // One whose deletion is under way no longer serves either.
        if (outcome.kind === 'deleted' || outcome.kind === 'started') await this.#retire(outcome, undefined);
        return undefined;
      default:
        return undefined;
    }
  }

  async #deployed(outcome: Outcome, commit: string): Promise<void> {
    if (outcome.kind === 'planned' || outcome.kind === 'neutral') return;
    // The service builds the head of the ref, which may have moved on since the run began.
    if (this.#made && this.#made.commit !== commit) {
      const moved = `${this.#options.run.name}: commit ${shortCommit(commit)} was built instead`;
      await this.#show({ state: 'inactive', description: moved }, this.#made.commit);
      this.#made = undefined;
    }
    // Nothing was begun, and what is shown is right.
    if (!this.#started && outcome.passes && !(await this.#isShownAsFailed(outcome))) return;
    const shown = outcomeShown(outcome);
    await this.#show(shown, commit);
    if (shown.state === 'success') await this.#retire(outcome, this.#made?.id);
  }

  /** A rollback that was requested: another commit serves than the one that is shown. */
  async #rolledBack(outcome: Outcome, built: string | undefined): Promise<void> {
    const revisionId = rolledBackTo(outcome);
    if (revisionId === undefined) return;
    const commit = built ?? (await this.#commitOfRevision(revisionId, outcome));
    const state = outcome.kind === 'rolled-back' ? 'success' : outcomeShown(outcome).state;
    if (commit !== undefined) await this.#show({ ...outcomeShown(outcome), state }, commit);
    await this.#retire(outcome, this.#made?.id);
  }

  /** The description of a deployment that was made for a revision names it. */
  async #commitOfRevision(revisionId: string, outcome: Outcome): Promise<string | undefined> {
    let commit: string | undefined;
    await this.#options.attempt('The GitHub Deployments were not read', permission, async () => {
      for await (const each of ownDeployments(this.#options.client, this.#own(outcome))) {
        if (!each.description.includes(` ${revisionId} `)) continue;
        commit = each.commit;
        return;
      }
    });
    return commit;
  }

  /** An earlier run that was refused may be the newest of the environment. */
  async #isShownAsFailed(outcome: Outcome): Promise<boolean> {
    let failed = false;
    await this.#options.attempt('The GitHub Deployments were not read', permission, async () => {
      const { client, run } = this.#options;
      for await (const { id } of ownDeployments(client, this.#own(outcome))) {
        const newest = await newestStatus(client, run.repository, id);
        failed = newest?.state === 'failure' || newest?.state === 'error';
        return;
      }
    });
    return failed;
  }

  async #retire(outcome: Outcome, olderThan: number | undefined): Promise<void> {
    const { client, run, attempt } = this.#options;
    if (this.#refused) return;
    const why = asLine(`${run.name}: ${run.mode === 'delete' ? 'deleted' : 'another revision serves'}`, 140);
    await attempt('Earlier GitHub Deployments were not set to inactive', permission, () =>
      retireDeployments(client, this.#own(outcome), { olderThan, why, logUrl: run.runUrl }),
    );
  }

  #own({ deploymentName }: Outcome): OwnDeployments {
    const { repository, environment, name } = this.#options.run;
    const names = [name, deploymentName].flatMap((each) => each ?? []);
    return { repository, environment: environment.name, names };
  }

  async #show(
    { state, description, environmentUrl }: Pick<GitHubDeployment, 'state' | 'description' | 'environmentUrl'>,
    commit: string,
  ): Promise<void> {
    const { client, run, attempt, warn } = this.#options;
    if (this.#refused) return;
    const { name, production, transient } = run.environment;
    const shown: GitHubDeployment = {
      environment: name,
      production,
      transient,
      state,
      description: asLine(description, 140),
      ...(environmentUrl ? { environmentUrl } : {}),
      ...(run.runUrl ? { logUrl: run.runUrl } : {}),
    };
    const place = { repository: run.repository, commit, externalId: run.externalId };
    const isWritten = await attempt('The GitHub Deployment was not written', permission, async (tried) => {
      if (this.#made === undefined) {
        const made = await makeDeployment(client, place, shown);
        if (made.kind === 'not-made') {
          this.#refused = true;
          warn(`GitHub made no deployment (${made.status}): ${asLine(made.why, 300)}`);
          return;
        }
        this.#made = { id: made.id, commit };
      }
      await writeDeploymentStatus(client, place, this.#made.id, shown, { look: tried > 1 });
    });
    if (!isWritten) this.#refused = true;
  }
}
