import type { Clock } from '../kit/clock.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import type { DeployEvent } from '../deploy/machine/deploy-event.ts';
import { messageOf } from '../kit/errors.ts';
import { statusOf, type GitHubClient } from '../github/client.ts';
import { lacksPermission, rateLimitWaitOf } from '../github/refusal.ts';
import { authorOf, commentLimitBytes, editCommentsOfStep, writeComment } from '../github/comment.ts';
import { sameRepository } from '../deploy/file/repository-url.ts';
import { comment } from '../deploy/words/summary.ts';
import { asLine } from '../deploy/words/sanitize.ts';
import { isCommented, reportRemoved } from './preview-reports.ts';
import { type Attempt, DeploymentReports, type RunReport } from './deployment-reports.ts';

/** The dependencies of the reporter. */
export interface GitHubReporterOptions {
  client: GitHubClient;
  run: RunReport;
  clock: Clock;
  /** Warns about what could not be reported, and names the missing permission. */
  warn: (message: string) => void;
}

/** How often a request is attempted, and the delay after an attempt without a response (ms). */
const maxAttempts = 3;
const retryDelayMs = 1000;
/** How long all reports of a run together wait for GitHub's rate limits (ms), because a waiting job is billed. */
const maxLimitWaitMs = 60_000;

/**
 * Reports the deploy run to GitHub as it happens. It never fails or blocks the run: errors of GitHub become warnings.
 */
export class GitHubReporter {
  readonly #options: GitHubReporterOptions;
  readonly #deployments: DeploymentReports | undefined;
  /** The reports run one after another. Never rejects. */
  #queue: Promise<void> = Promise.resolve();
  #remainingLimitWaitMs = maxLimitWaitMs;

  constructor(options: GitHubReporterOptions) {
    this.#options = options;
    const { client, run, warn } = options;
    const { environment } = run;
    if (environment) {
      this.#deployments = new DeploymentReports({ client, run: { ...run, environment }, warn, attempt: this.#attempt });
    }
  }

  readonly emit = (event: DeployEvent): void => {
    this.#enqueue(async () => this.#deployments?.emit(event));
  };

  /** Reports the outcome: the last status and the comment. Resolves when GitHub has both, or after a warning. */
  async finish(outcome: Outcome): Promise<void> {
    const commit = this.#commitOf(outcome);
    this.#enqueue(async () => this.#deployments?.finish(outcome, commit));
    const { client, run } = this.#options;
    if (run.mode !== 'preview' || isCommented(outcome)) {
      this.#enqueue(() => this.#comment(outcome, commit ?? run.commit));
    }
    this.#enqueue(() => reportRemoved(outcome, { client, run, attempt: this.#attempt }));
    await this.#queue;
  }

  #enqueue(work: () => Promise<void>): void {
    this.#queue = this.#queue.then(work);
  }

  /** The commit of the serving revision; undefined if unknown or of another repository. */
  #commitOf({ repoUrl, rollout, rollback }: Outcome): string | undefined {
    const { mode, repositoryUrl } = this.#options.run;
    if (repoUrl === undefined || !sameRepository(repoUrl, repositoryUrl)) return undefined;
    const restored = rollback && 'rollout' in rollback ? rollback.rollout : undefined;
    return (mode === 'rollback' ? restored : rollout)?.builtCommit;
  }

  async #comment(outcome: Outcome, commit: string): Promise<void> {
    const { client, run } = this.#options;
    const { pullRequest, repository, topic, runUrl, step } = run;
    if (pullRequest === undefined) return;
    await this.#attempt('The comment was not written', 'pull-requests: write', async () => {
      const author = await authorOf(client);
      const body = comment(outcome, { commit, runUrl }, commentLimitBytes);
      const at = { repository, pullRequest, step, joinsCommands: run.mode === 'preview' };
      if (topic === undefined && (await editCommentsOfStep(client, at, author, body))) return;
      await writeComment(client, { ...at, topic: topic ?? 'deployment' }, author, body);
    });
  }

  /** Attempts up to three times. A later attempt first checks what an earlier one without a response has created. */
  readonly #attempt: Attempt = async (what, permission, work) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await work(attempt);
        return true;
      } catch (error) {
        const waitMs = attempt < maxAttempts ? this.#waitAfter(error) : undefined;
        if (waitMs !== undefined) {
          await this.#options.clock.sleep(waitMs);
          continue;
        }
        const permissionNote = lacksPermission(error) ? ` The job needs \`permissions: ${permission}\`.` : '';
        const limitWaitMs = rateLimitWaitOf(error) ?? 0;
        const limitNote =
          limitWaitMs > maxLimitWaitMs
            ? ` GitHub takes requests again in ${Math.ceil(limitWaitMs / 60_000)} minutes: run the step again then.`
            : '';
        this.#options.warn(
          `${what}: ${asLine(messageOf(error), 300).replace(/\.$/, '')}.${permissionNote}${limitNote}`,
        );
        return false;
      }
    }
  };

  /** How long to wait before the next attempt (ms); undefined if another one would not help or come too late. */
  #waitAfter(error: unknown): number | undefined {
    const limitWaitMs = rateLimitWaitOf(error);
    if (limitWaitMs !== undefined) {
      if (limitWaitMs > this.#remainingLimitWaitMs) return undefined;
      this.#remainingLimitWaitMs -= limitWaitMs;
      return limitWaitMs;
    }
    const status = statusOf(error);
    return status === undefined || status >= 500 ? retryDelayMs : undefined;
  }
}
