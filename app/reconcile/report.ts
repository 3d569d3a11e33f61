import type { CheckContent, DeploymentContent, InstallationRepository, PullRequestKey } from '../github/github-api.ts';

/**
 * The jobs that send reports to GitHub. Strangers cause checks of commits as a whole, one for each head of a pull
 * request, and comments: these have jobs of their own, so that no number of them keeps the report of a deploy waiting.
 */
export const reportJob = 'report';
export const commitReportJob = 'report-of-commit';

/** The job of a report. Of one group one job is worked on at a time: GitHub paces the writes of each installation. */
export const reportJobOf = ({
  kind,
  name,
  repository,
}: Pick<DesiredReport, 'kind' | 'name' | 'repository'>): { name: string; group: string } => ({
  name: kind === 'comment' || (kind === 'check' && name === commitCheckName) ? commitReportJob : reportJob,
  group: `installation ${repository.installationId}`,
});

/** A report to GitHub. Its wanted content is stored with the work; a separate job sends it. */
export type ReportContent =
  | { kind: 'check'; content: CheckContent; subject?: CheckSubject }
  | { kind: 'deployment'; content: DeploymentContent }
  | { kind: 'comment'; content: CommentContent };

/** The one comment on a pull request. What is put replaces the parts that it has and keeps the others. */
export interface CommentContent extends CommentSections {
  /** The number of the pull request. */
  number: number;
}

/** The parts of a comment, in Markdown. Several may be written at the same time. */
export interface CommentSections {
  /** The preview of the pull request. */
  preview?: string;
  /** What was said to the last commands. */
  answer?: string;
}

/** What the check of a commit is about: the commit itself, or a pull request of which it is the head. */
export type CheckSubject = { kind: 'commit' } | { kind: 'pull-request'; number: number };

/**
 * Which report: one check run for a name on a head commit, one GitHub Deployment for an intent, one comment for a pull
 * request.
 */
export interface DesiredReport {
  kind: 'check' | 'deployment' | 'comment';
  repository: InstallationRepository;
  /** The head commit; for a comment the pull request, as a ref. */
  headSha: string;
  /** The check's name; for a deployment the intent's id. With repository and head commit it is the report's key. */
  name: string;
  wanted: ReportContent;
}

/** A report as it is stored. */
export interface Report extends DesiredReport {
  /** A uuid, and the check run's `external_id`. */
  id: string;
  /** Grows whenever `wanted` changes. */
  version: number;
  /** The version that was last sent to GitHub; 0 before the first. */
  reportedVersion: number;
  reportedAt?: number;
  githubId?: number;
  /** How many annotations of `wanted` were sent, and the last state that a deployment was given. */
  reported?: { annotations?: number; state?: string };
}

/** A check as a report. */
export const checkReport = (
  { repository, headSha, name }: Pick<DesiredReport, 'repository' | 'headSha' | 'name'>,
  content: CheckContent,
  subject?: CheckSubject,
): DesiredReport => ({
  kind: 'check',
  repository,
  headSha,
  name,
  wanted: { kind: 'check', content, ...(subject && { subject }) },
});

/** Parts of the comment on a pull request as a report. */
export const commentReport = ({ repository, number }: PullRequestKey, sections: CommentSections): DesiredReport => ({
  kind: 'comment',
  repository,
  headSha: `refs/pull/${number}/head`,
  name: 'comment',
  wanted: { kind: 'comment', content: { number, ...sections } },
});

/** The name of the check that reports one deployment. */
export const checkName = (deploymentName: string): string => `Landfall: ${deploymentName}`;

/** Whether a check of this name is one that the App writes. */
export const isOwnCheck = (name: string): boolean => name === commitCheckName || name.startsWith(checkName(''));

/** The name of the check about a commit as a whole: nothing to deploy, a pull request, a merge group. */
export const commitCheckName = 'Landfall';
