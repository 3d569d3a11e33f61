import type { Clock } from '../kit/clock.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import type { DeployEvent } from '../deploy/machine/deploy-event.ts';
import { messageOf } from '../kit/errors.ts';
import { statusOf, type GitHubClient } from '../github/client.ts';
import { lacksPermission, rateLimitWaitOf } from '../github/refusal.ts';
import { authorOf, commentLimitBytes, editCommentsOfStep, keepComment } from '../github/comment.ts';
import { sameRepository } from '../deploy/file/repository-url.ts';
import { comment } from '../deploy/words/summary.ts';
import { asLine } from '../deploy/words/sanitize.ts';
import { type Attempt, DeploymentReports, type RunReport } from './deployment-reports.ts';

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
/** How long all reports of a run wait together for GitHub's limits (ms): a job that waits costs its minutes. */
const limitedWithinMs = 60_000;

/** Reports the deploy run to GitHub as it happens. It never fails or blocks the run: errors of GitHub become warnings. */
export class GitHubReporter {
  readonly #options: GitHubReporterOptions;
  readonly #deployments: DeploymentReports | undefined;
  /** What is under way, one after the other; it never rejects. */
  #line: Promise<void> = Promise.resolve();
  #limitedLeftMs = limitedWithinMs;

  constructor(reported: GitHubReporterOptions) {
    this.#options = reported;
    const { client, run, warn } = reported;
    const { environment } = run;
    if (environment) {
      this.#deployments = new DeploymentReports({ client, run: { ...run, environment }, warn, attempt: this.#attempt });
    }
  }

  readonly emit = (event: DeployEvent): void => {
    this.#next(async () => this.#deployments?.emit(event));
  };

  /** Reports the outcome: the last status and the comment. Resolves when GitHub has both, or after a warning. */
  async concluded(outcome: Outcome): Promise<void> {
    const commit = this.#commitOf(outcome);
    this.#next(async () => this.#deployments?.concluded(outcome, commit));
    this.#next(() => this.#comment(outcome, commit ?? this.#options.run.commit));
    await this.#line;
  }

  #next(work: () => Promise<void>): void {
    this.#line = this.#line.then(work);
  }

  /** The commit that serves as it was built; undefined where that is unknown or of another repository. */
  #commitOf({ repoUrl, rollout, rollback }: Outcome): string | undefined {
    const { mode, repositoryUrl } = this.#options.run;
    if (repoUrl === undefined || !sameRepository(repoUrl, repositoryUrl)) return undefined;
    const restored = rollback && 'rollout' in rollback ? rollback.rollout : undefined;
    return (mode === 'rollback' ? restored : rollout)?.builtCommit;
  }

  async #comment(outcome: Outcome, commit: string): Promise<void> {
    const { client, run } = this.#options;
    const { pullRequest, repository, about, runUrl, step } = run;
    if (pullRequest === undefined) return;
    await this.#attempt('The comment was not written', 'pull-requests: write', async () => {
      const author = await authorOf(client);
      const body = comment(outcome, { commit, runUrl }, commentLimitBytes);
      const at = { repository, pullRequest, step };
      if (about === undefined && (await editCommentsOfStep(client, at, author, body))) return;
      await keepComment(client, { ...at, about: about ?? 'deployment' }, author, body);
    });
  }

  /** Three times at most: what an attempt without an answer may have made is looked for before it is made again. */
  readonly #attempt: Attempt = async (what, permission, work) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await work(attempt);
        return true;
      } catch (error) {
        const waitMs = attempt < attempts ? this.#waitAfter(error) : undefined;
        if (waitMs !== undefined) {
          await this.#options.clock.sleep(waitMs);
          continue;
        }
        const lacks = lacksPermission(error) ? ` The job needs \`permissions: ${permission}\`.` : '';
        const limitedMs = rateLimitWaitOf(error) ?? 0;
        const limited =
          limitedMs > limitedWithinMs
            ? ` GitHub takes requests again in ${Math.ceil(limitedMs / 60_000)} minutes: run the step again then.`
            : '';
        this.#options.warn(`${what}: ${asLine(messageOf(error), 300).replace(/\.$/, '')}.${lacks}${limited}`);
        return false;
      }
    }
  };

  /** How long to wait before the next attempt (ms); undefined where another one would not help or come too late. */
  #waitAfter(error: unknown): number | undefined {
    const limitedMs = rateLimitWaitOf(error);
    if (limitedMs !== undefined) {
      if (limitedMs > this.#limitedLeftMs) return undefined;
      this.#limitedLeftMs -= limitedMs;
      return limitedMs;
    }
    const status = statusOf(error);
    return status === undefined || status >= 500 ? againMs : undefined;
  }
}
