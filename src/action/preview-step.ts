import type { Outcome } from '../deploy/machine/outcome-types.ts';
import type { DeployEvent } from '../deploy/machine/deploy-event.ts';
import type { EntryOptions } from '../deploy/file/entry-options.ts';
import type { Workflow } from '../deploy/file/workflow.ts';
import type { PreviewSubject } from '../host/read-preview.ts';
import { runPreviewOf, sweepPreviewsOf } from '../host/run-preview.ts';
import type { ReceiptTarget } from '../host/write-receipt.ts';
import { version } from '../kit/version.ts';
import type { GitHubClient } from '../github/client.ts';
import { isPullRequestClosed, readPullRequest } from './pull-request.ts';
import type { StepInput } from './read-step.ts';
import { refusal, refuse } from './report-outcome.ts';
import type { RunEvent } from './run-event.ts';

/** What a step about a preview is given. */
interface PreviewStep {
  event: RunEvent;
  input: StepInput;
  options: EntryOptions;
  subject: PreviewSubject;
  workflow: Workflow | undefined;
  github: GitHubClient | undefined;
  /** The only head that is previewed; absent: the newest. */
  headSha?: string | undefined;
  receipt: ReceiptTarget | undefined;
  signal: AbortSignal;
  emit: (event: DeployEvent) => void;
  mask: (secret: string) => void;
  warn: (message: string) => void;
}

/** Creates, updates or removes the preview of the pull request that a step runs for. */
export async function runPreviewStep(step: PreviewStep): Promise<Outcome> {
  const { event, input, options, subject, workflow, github: client, headSha, receipt, signal, emit, mask, warn } = step;
  const [owner = '', name = ''] = event.repository.split('/');
  const reader = { client, repository: { owner, name }, warn };
  const given = {
    options,
    subject,
    entry: input.name,
    isClosed: (number: number) => isPullRequestClosed(number, reader),
    userAgent: `landfall-action/${version}`,
    receipt,
    signal,
    emit,
    mask,
  };
  const repositoryId = Number(process.env['GITHUB_REPOSITORY_ID']);
  if (event.eventName === 'schedule' && repositoryId > 0) {
    return sweepPreviewsOf(given, { id: repositoryId, serverUrl: event.serverUrl });
  }
  const run = await readPullRequest(event, workflow?.pullRequest, reader);
  if (!run) {
    return refusal(
      'This run belongs to no pull request that is known here',
      'Run it for pull_request, or give pull-request and github-token',
    );
  }
  const { pull, ...requested } = run;
  return runPreviewOf({
    ...given,
    pull: { ...pull, imageUri: input.imageUri },
    ...requested,
    ...(headSha === undefined ? {} : { eventSha: headSha }),
    approvedSha: input.approvedCommit,
    workflow,
    valueOfVariable: (variable) => process.env[variable],
    refuse,
  });
}
