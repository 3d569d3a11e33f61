import type { Clock } from '../clock.ts';
import type { Outcome } from '../deploy/outcome-types.ts';
import type { DeployEvent } from '../deploy/deploy-event.ts';
import { messageOf } from '../errors.ts';
import { statusOf, type GitHubClient, type RepositoryName } from '../github/client.ts';
import { authorOf, commentLimitBytes, keepComment } from '../github/comment.ts';
import { makeDeployment, writeDeploymentStatus, outcomeShown, type GitHubDeployment } from '../github/deployment.ts';
import { comment } from '../report/summary.ts';
import { asLine } from '../report/sanitize.ts';

/** What of this run is shown on GitHub, and where. */
export interface RunReport {
  repository: RepositoryName;
  /** The commit that the run is of: the head of a pull request, never its merge. */
  commit: string;
  /** Ours, of this attempt of this step: it finds the GitHub Deployment again. */
  externalId: string;
  /** The deployment, as people name it. */
  name: string;
  runUrl?: string | undefined;
  /** What the comment is about: one is kept for each. */
  about: string;
  /** Given: keeps one comment on it. */
  pullRequest?: number | undefined;
  /** If set: creates a GitHub Deployment to this environment once a revision starts. */
  environment?: { name: string; production: boolean; transient: boolean } | undefined;
}

/** The dependencies of the reporter. */
export interface GitHubReporterOptions {
  client: GitHubClient;
  run: RunReport;
  clock: Clock;
  /** Warns about what could not be reported, and names the missing permission. */
  warn: (message: string) => void;
}

/** How often something is tried, and how long is waited after an attempt that was not answered (ms). */
const attempts = 3;
const againMs = 1000;

/** Reports the deploy run to GitHub as it happens. It never fails or blocks the run: errors of GitHub become warnings. */
export class GitHubReporter {
  readonly #options: GitHubReporterOptions;
  #deployment: number | undefined;
  /** Whether a revision is on its way that the GitHub Deployment is about. */
  #started = false;
  /** GitHub does not take it: one warning is enough. */
  #refused = false;
  /** What is under way, one after the other; it never rejects. */
  #line: Promise<void> = Promise.resolve();

  constructor(reported: GitHubReporterOptions) {
    this.#options = reported;
  }

  readonly emit = (event: DeployEvent): void => {
    const { environment, name } = this.#options.run;
    if (!environment) return;
    if (event.kind === 'started') {
      this.#started = true;
      this.#next('in_progress', `${name}: revision ${event.revisionId} ${event.how}`);
    }
    if (event.kind === 'smoke-began' && this.#started) this.#next('in_progress', `${name}: live, running smoke tests`);
  };

  /** Reports the outcome: the last status and the comment. Resolves when GitHub has both, or after a warning. */
  async concluded(outcome: Outcome): Promise<void> {
    await this.#line;
    const { environmentUrl, state, description } = outcomeShown(outcome);
    if (this.#started) this.#next(state, description, environmentUrl);
    this.#line = this.#line.then(() => this.#comment(outcome));
    await this.#line;
  }

  #next(state: GitHubDeployment['state'], words: string, environmentUrl?: string): void {
    this.#line = this.#line.then(() => this.#show(state, asLine(words, 140), environmentUrl));
  }

  async #show(state: GitHubDeployment['state'], description: string, environmentUrl?: string): Promise<void> {
    const { client, run } = this.#options;
    if (!run.environment || this.#refused) return;
    const { name, production, transient } = run.environment;
    const shown: GitHubDeployment = {
      environment: name,
      production,
      transient,
      state,
      description,
      ...(environmentUrl ? { environmentUrl } : {}),
      ...(run.runUrl ? { logUrl: run.runUrl } : {}),
    };
    const place = { repository: run.repository, commit: run.commit, externalId: run.externalId };
    const isWritten = await this.#attempt(
      'The GitHub Deployment was not written',
      'deployments: write',
      async (attempt) => {
        if (this.#deployment === undefined) {
          const made = await makeDeployment(client, place, shown);
          if (made.kind === 'not-made') {
            this.#refused = true;
            this.#options.warn(`GitHub made no deployment (${made.status}): ${asLine(made.why, 300)}`);
            return;
          }
          this.#deployment = made.id;
        }
        await writeDeploymentStatus(client, place, this.#deployment, shown, { look: attempt > 1 });
      },
    );
    if (!isWritten) this.#refused = true;
  }

  async #comment(outcome: Outcome): Promise<void> {
    const { client, run } = this.#options;
    const { pullRequest, repository, about, commit, runUrl } = run;
    if (pullRequest === undefined) return;
    await this.#attempt('The comment was not written', 'pull-requests: write', async () => {
      const author = await authorOf(client);
      const body = comment(outcome, { commit, runUrl }, commentLimitBytes);
      await keepComment(client, { repository, pullRequest, about }, author, body);
    });
  }

  /** Three times at most: what an attempt without an answer may have made is looked for before it is made again. */
  async #attempt(what: string, permission: string, work: (attempt: number) => Promise<void>): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await work(attempt);
        return true;
      } catch (error) {
        const status = statusOf(error);
        if (attempt < attempts && (status === undefined || status >= 500)) {
          await this.#options.clock.sleep(againMs);
          continue;
        }
        const lacks = status === 403 || status === 404 ? ` The job needs \`permissions: ${permission}\`.` : '';
        this.#options.warn(`${what}: ${asLine(messageOf(error), 300)}.${lacks}`);
        return false;
      }
    }
  }
}
