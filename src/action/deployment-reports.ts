import type { Mode } from '../deploy/file/entry-options.ts';
import { shortCommit } from '../contract/control/repo-ref.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import type { DeployEvent } from '../deploy/machine/deploy-event.ts';
import type { GitHubClient, RepositoryName } from '../github/client.ts';
import {
  createDeployment,
  newestStatus,
  writeDeploymentStatus,
  outcomeStatus,
  type GitHubDeployment,
} from '../github/deployment.ts';
import { ownDeployments, retireDeployments, type OwnDeployments } from '../github/own-deployments.ts';
import { rolledBackTo } from '../deploy/words/result-json.ts';
import { asLine } from '../deploy/words/sanitize.ts';

/** What to show of a run on GitHub, and where. */
export interface RunReport {
  mode: Mode;
  repository: RepositoryName;
  /** The web address of the repository: revisions built from it are reported on the commit that was built. */
  repositoryUrl: string;
  /** The commit of the run: the head of a pull request, never its merge commit. */
  commit: string;
  /** Identifies the step: it finds the comments of this step again. */
  step?: string | undefined;
  /** Our id of this attempt of this step: it finds the GitHub Deployment again. */
  externalId: string;
  /** The deployment's name; absent if the step failed before it was known. */
  name?: string | undefined;
  runUrl?: string | undefined;
  /** The topic of the comment: there is one comment per topic. Absent if the name is. */
  topic?: string | undefined;
  /** The pull request to comment on, if any. */
  pullRequest?: number | undefined;
  /** Where it is said of previews that are removed. */
  ofRemoved?: { comments: boolean; deployments: boolean };
  /** The environment to show in GitHub Deployments, if any. */
  environment?: { name: string; production: boolean; transient: boolean } | undefined;
}

/** Attempts a request to GitHub. Returns false after a failure, with a warning that names the required permission. */
export type Attempt = (what: string, permission: string, work: (attempt: number) => Promise<void>) => Promise<boolean>;

interface Options {
  client: GitHubClient;
  run: RunReport & { environment: NonNullable<RunReport['environment']> };
  warn: (message: string) => void;
  attempt: Attempt;
}

const permission = 'deployments: write';

/**
 * Shows in GitHub Deployments what a run does to an environment: creates one for what it deploys, and sets those to
 * inactive that no longer serve.
 */
export class DeploymentReports {
  readonly #options: Options;
  /** The GitHub Deployment of this run, and its commit. */
  #current: { id: number; commit: string } | undefined;
  /** Whether the run has started a revision. */
  #started = false;
  /** Whether GitHub rejected a request: then no more are sent, so that there is only one warning. */
  #refused = false;

  constructor(options: Options) {
    this.#options = options;
  }

  async emit(event: DeployEvent): Promise<void> {
    const { mode, name, commit } = this.#options.run;
    if (mode !== 'deploy' && mode !== 'preview') return;
    if (event.kind === 'started') {
      this.#started = true;
      await this.#writeStatus(
        { state: 'in_progress', description: `${name}: revision ${event.revisionId} ${event.how}` },
        commit,
      );
    }
    if (event.kind === 'smoke-began' && this.#started) {
      await this.#writeStatus({ state: 'in_progress', description: `${name}: live, running smoke tests` }, commit);
    }
  }

  /** @param builtCommit the commit that the outcome's revision was built from, if it belongs to this repository */
  async finish(outcome: Outcome, builtCommit: string | undefined): Promise<void> {
    switch (this.#options.run.mode) {
      case 'deploy':
        return this.#reportDeploy(outcome, builtCommit ?? this.#options.run.commit);
      case 'preview':
        return outcome.kind === 'deleted'
          ? undefined
          : this.#reportDeploy(outcome, builtCommit ?? this.#options.run.commit);
      case 'rollback':
        return this.#reportRollback(outcome, builtCommit);
      case 'delete':
        // A deployment that is being deleted no longer serves either.
        if (outcome.kind === 'deleted' || outcome.kind === 'started') await this.#retire(outcome, undefined);
        return undefined;
      default:
        return undefined;
    }
  }

  async #reportDeploy(outcome: Outcome, commit: string): Promise<void> {
    if (outcome.kind === 'planned' || outcome.kind === 'neutral') return;
    // The service builds the head of the ref, which may have moved since the run began.
    if (this.#current && this.#current.commit !== commit) {
      const movedNote = `${this.#options.run.name}: commit ${shortCommit(commit)} was built instead`;
      await this.#writeStatus({ state: 'inactive', description: movedNote }, this.#current.commit);
      this.#current = undefined;
    }
    // Nothing was started, and GitHub already shows the right state.
    if (!this.#started && outcome.passes && !(await this.#isShownAsFailed(outcome))) return;
    const status = outcomeStatus(outcome);
    await this.#writeStatus(status, commit);
    if (status.state === 'success') await this.#retire(outcome, this.#current?.id);
  }

  /** After a requested rollback, another commit serves than the one that GitHub shows. */
  async #reportRollback(outcome: Outcome, builtCommit: string | undefined): Promise<void> {
    const revisionId = rolledBackTo(outcome);
    if (revisionId === undefined) return;
    const commit = builtCommit ?? (await this.#commitOfRevision(revisionId, outcome));
    const state = outcome.kind === 'rolled-back' ? 'success' : outcomeStatus(outcome).state;
    if (commit !== undefined) await this.#writeStatus({ ...outcomeStatus(outcome), state }, commit);
    await this.#retire(outcome, this.#current?.id);
  }

  /** Finds the commit of a revision: the description of its GitHub Deployment contains the revision's id. */
  async #commitOfRevision(revisionId: string, outcome: Outcome): Promise<string | undefined> {
    let commit: string | undefined;
    await this.#options.attempt('The GitHub Deployments were not read', permission, async () => {
      for await (const each of ownDeployments(this.#options.client, this.#ownScope(outcome))) {
        if (!each.description.includes(` ${revisionId} `)) continue;
        commit = each.commit;
        return;
      }
    });
    return commit;
  }

  /** Whether the newest GitHub Deployment of the environment is of a run that failed. */
  async #isShownAsFailed(outcome: Outcome): Promise<boolean> {
    let isFailed = false;
    await this.#options.attempt('The GitHub Deployments were not read', permission, async () => {
      const { client, run } = this.#options;
      for await (const { id } of ownDeployments(client, this.#ownScope(outcome))) {
        const newest = await newestStatus(client, run.repository, id);
        isFailed = newest?.state === 'failure' || newest?.state === 'error';
        return;
      }
    });
    return isFailed;
  }

  async #retire(outcome: Outcome, olderThan: number | undefined): Promise<void> {
    const { client, run, attempt } = this.#options;
    if (this.#refused) return;
    const reason = asLine(`${run.name}: ${run.mode === 'delete' ? 'deleted' : 'another revision serves'}`, 140);
    await attempt('Earlier GitHub Deployments were not set to inactive', permission, () =>
      retireDeployments(client, this.#ownScope(outcome), { olderThan, why: reason, logUrl: run.runUrl }),
    );
  }

  #ownScope({ deploymentName }: Outcome): OwnDeployments {
    const { repository, environment, name } = this.#options.run;
    const names = [name, deploymentName].flatMap((each) => each ?? []);
    return { repository, environment: environment.name, names };
  }

  async #writeStatus(
    { state, description, environmentUrl }: Pick<GitHubDeployment, 'state' | 'description' | 'environmentUrl'>,
    commit: string,
  ): Promise<void> {
    const { client, run, attempt, warn } = this.#options;
    if (this.#refused) return;
    const { name, production, transient } = run.environment;
    const desired: GitHubDeployment = {
      environment: name,
      production,
      transient,
      state,
      description: asLine(description, 140),
      ...(environmentUrl ? { environmentUrl } : {}),
      ...(run.runUrl ? { logUrl: run.runUrl } : {}),
    };
    const key = { repository: run.repository, commit, externalId: run.externalId };
    const isWritten = await attempt('The GitHub Deployment was not written', permission, async (attemptNumber) => {
      if (this.#current === undefined) {
        const created = await createDeployment(client, key, desired);
        if (created.kind === 'not-made') {
          this.#refused = true;
          warn(`GitHub made no deployment (${created.status}): ${asLine(created.reason, 300)}`);
          return;
        }
        this.#current = { id: created.id, commit };
      }
      await writeDeploymentStatus(client, key, this.#current.id, desired, { checkFirst: attemptNumber > 1 });
    });
    if (!isWritten) this.#refused = true;
  }
}
