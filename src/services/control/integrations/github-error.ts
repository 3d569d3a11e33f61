import { isObject } from '../../../kit/json-object.ts';

/** GitHub could not be reached, or refused. The message is for people and contains no secrets. */
export class GitHubIntegrationError extends Error {
  /** The response's status; undefined without a response. */
  readonly status: number | undefined;

  constructor(message: string, status: number | undefined) {
    super(message);
    this.name = 'GitHubIntegrationError';
    this.status = status;
  }
}

/** The most characters of GitHub's own message that are quoted. */
const maxMessageLength = 200;

/** Converts a failed call to GitHub to an error that says what to do. */
export function toGitHubIntegrationError(
  what: string,
  error: unknown,
  { late, answerWithinMs }: { late: boolean; answerWithinMs: number },
): GitHubIntegrationError {
  const status = isObject(error) || error instanceof Error ? statusOf(error) : undefined;
  const prefix = `Could not ${what}: GitHub`;
  if (late)
    return new GitHubIntegrationError(`${prefix} did not respond within ${answerWithinMs / 1_000} s.`, undefined);
  if (status === undefined || status >= 600) {
    return new GitHubIntegrationError(
      `${prefix} could not be reached. Check the network and GITHUB_API_URL.`,
      undefined,
    );
  }
  const githubMessage =
    error instanceof Error ? error.message.replace(/(?: - | )?https?:\S+/g, '').slice(0, maxMessageLength) : '';
  return new GitHubIntegrationError(
    `${prefix} responded ${status}${githubMessage ? ` (${githubMessage})` : ''}.${advice[status] ?? ''}`,
    status,
  );
}

const limitedAdvice =
  ' It may be a rate limit, or a permission that the App lacks: it needs contents: read and metadata: read.';
const advice: Readonly<Record<number, string>> = {
  401: ' Check the App’s id and its private key, and the clock of this machine.',
  403: limitedAdvice,
  404: ' Check GITHUB_API_URL, and that the App is still installed.',
  429: limitedAdvice,
};

function statusOf(error: object): number | undefined {
  // Octokit gives a request that it could not send the status 500, without a response.
  const isAnswered = 'response' in error && error.response !== undefined;
  const status = 'status' in error ? error.status : undefined;
  return isAnswered && typeof status === 'number' ? status : undefined;
}
