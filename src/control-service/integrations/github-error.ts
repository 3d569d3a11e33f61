import { isObject } from '../../contract/json-object.ts';

/** GitHub could not be asked, or said no. The message is for people; nothing secret is in it. */
export class GitHubIntegrationError extends Error {
  /** What GitHub answered; undefined where it did not. */
  readonly status: number | undefined;

  constructor(message: string, status: number | undefined) {
    super(message);
    this.name = 'GitHubIntegrationError';
    this.status = status;
  }
}

/** GitHub's own words that are told, in characters. */
const maxMessageLength = 200;

/** What went wrong when GitHub was asked for something, in words that say what to do. */
export function toGitHubIntegrationError(
  what: string,
  error: unknown,
  { late, answerWithinMs }: { late: boolean; answerWithinMs: number },
): GitHubIntegrationError {
  const status = isObject(error) || error instanceof Error ? statusOf(error) : undefined;
  const begin = `GitHub was asked to ${what}`;
  if (late)
    return new GitHubIntegrationError(`${begin} and did not answer within ${answerWithinMs / 1_000} s.`, undefined);
  if (status === undefined || status >= 600) {
    return new GitHubIntegrationError(
      `${begin} and could not be reached. Check the network and GITHUB_API_URL.`,
      undefined,
    );
  }
  const words =
    error instanceof Error ? error.message.replace(/(?: - | )?https?:\S+/g, '').slice(0, maxMessageLength) : '';
  const advice =
    status === 401
      ? ' Check the App’s id and its private key, and the clock of this machine.'
      : status === 403 || status === 429
        ? ' It may be a limit that passes, or a permission that the App lacks: it needs contents: read and metadata: read.'
        : status === 404
          ? ' Check GITHUB_API_URL, and that the App is still installed.'
          : '';
  return new GitHubIntegrationError(`${begin} and answered ${status}${words ? ` (${words})` : ''}.${advice}`, status);
}

function statusOf(error: object): number | undefined {
  // What Octokit could not send at all it gives the status 500, without an answer.
  const isAnswered = 'response' in error && error.response !== undefined;
  const status = 'status' in error ? error.status : undefined;
  return isAnswered && typeof status === 'number' ? status : undefined;
}
