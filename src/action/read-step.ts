import { defaultConfigPath, readDrafts } from '../deploy/file/deploy-file.ts';
import type { Mode } from '../deploy/file/entry-options.ts';
import { inputs as inputTable, optionInputs, type Inputs } from '../deploy/file/input-table.ts';
import { inputProblem } from '../deploy/file/inputs.ts';
import { OptionReader } from '../deploy/file/option-reader.ts';
import type { Environment } from '../deploy/file/secret-names.ts';
import type { Problem } from '../kit/diagnostics/problem.ts';
import { type Named, namedBy } from '../deploy/file/desired.ts';
import type { Workflow } from '../deploy/file/workflow.ts';
import { readPreview, type PreviewSubject } from '../host/read-preview.ts';
import { deletesByInputs, readRequest, type ReadRequest } from '../host/read-request.ts';
import type { SubjectOfRun } from '../host/run-deployment.ts';
import type { WorkflowRun } from './workflow.ts';
import { annotated, readTextFile, type TextFile } from '../host/workspace.ts';

/** The input of a step. Parts of an invalid input are read too, to report it in the right place. */
export interface StepInput {
  request: ReadRequest<SubjectOfRun | PreviewSubject>;
  /** Every problem, including those of the request. */
  problems: Problem[];
  /** What to do about the problems besides correcting them. */
  advice?: string | undefined;
  reporting: GitHubReporting | undefined;
  token: string | undefined;
  /** The run, with the pull request of the inputs. */
  workflow: Workflow | undefined;
  /** The only commit that may be deployed. */
  commit?: string | undefined;
  /** The commit of a fork that a person approved. */
  approvedCommit?: string | undefined;
  /** The image that the workflow built. */
  imageUri?: string | undefined;
  name: string | undefined;
  mode: Mode;
  /** Identifies the step, to find its comments. */
  step: string;
}

/** Reads inputs, deploy file and environment of a step. @param readFile by default from the workspace */
export function readStep(
  getInput: (name: string) => string,
  { workflow, isPullRequest, isClosed }: WorkflowRun,
  env: Environment,
  readFile: (path: string) => TextFile = readTextFile,
): StepInput {
  const inputs: Inputs = Object.fromEntries([...inputTable.keys()].map((name) => [name, getInput(name)]));
  const path = inputs['config'] || defaultConfigPath;
  const deployFile: TextFile = deletesByInputs(inputs) ? { kind: 'absent' } : readFile(path);
  const file = deployFile.kind === 'read' ? { file: { text: deployFile.text, path: annotated(path) } } : {};
  const { subject, problems: subjectProblems } = readRunSubject(inputs);
  const { reporting, problems: gitHubProblems } = readGitHubInputs(inputs);
  const requested = { inputs, ...file, env };
  const isPreview = inputs['mode']?.trim() === 'preview';
  const request: StepInput['request'] =
    deployFile.kind === 'unreadable' && !(isPreview && isClosed)
      ? { ok: false, problems: [inputProblem('config', `config: ${deployFile.problem.message}`)] }
      : isPreview
        ? readPreview(requested, { isClosed })
        : readRequest(requested, { isPullRequest: isPullRequest || subject.pullRequest !== undefined });
  const requestProblems = request.ok ? [] : request.problems;
  const isFileMissing = deployFile.kind === 'absent' && requestProblems.some(({ field }) => fileInputs.has(field));
  return {
    request,
    problems: [...requestProblems, ...subjectProblems, ...gitHubProblems],
    advice: isFileMissing ? checkoutAdvice(path) : undefined,
    reporting,
    token: inputs['github-token']?.trim() || undefined,
    workflow: withPullRequest(workflow, subject.pullRequest),
    commit: subject.commit,
    approvedCommit: subject.approvedCommit,
    imageUri: inputs['image-uri']?.trim() || undefined,
    step: stepOf(env, inputs),
    ...(request.ok
      ? { name: nameOf(request.subject) ?? guessName(inputs, file.file), mode: request.options.mode }
      : { name: guessName(inputs, file.file), mode: guessMode(inputs) }),
  };
}

/** Identifies the step by workflow, job and step. Matrix entries share these, and differ in their inputs. */
function stepOf(env: Environment, inputs: Inputs): string {
  const [config, environment] = [inputs['config']?.trim(), inputs['environment']?.trim()];
  const legParts = [config === defaultConfigPath ? '' : config, environment].filter(Boolean);
  return [...['GITHUB_WORKFLOW', 'GITHUB_JOB', 'GITHUB_ACTION'].map((name) => env[name] ?? ''), ...legParts].join('/');
}

/** The name of the deployment, or its id; absent where the preview of a closed pull request needs none. */
function nameOf(subject: SubjectOfRun | PreviewSubject): string | undefined {
  const { name, deploymentId }: Named =
    subject.mode === 'preview' ? (subject.deployment?.desired ?? {}) : namedBy(subject);
  return name ?? deploymentId;
}

/** The inputs that may be invalid because the deploy file is missing. */
const fileInputs: ReadonlySet<string> = new Set(['config', 'deployment', 'name']);

const checkoutAdvice = (path: string): string =>
  `Correct the inputs named above. There is no deploy file at ${path}; if you want to use one, run actions/checkout before this step. Nothing was sent`;

/**
 * Assigns the run to this pull request, and removes the head of another one. The head is kept if the event has no
 * number, as in a `workflow_run` of a fork.
 */
function withPullRequest(workflow: Workflow | undefined, pullRequest: number | undefined): Workflow | undefined {
  if (!workflow || pullRequest === undefined) return workflow;
  if (workflow.pullRequest === undefined || workflow.pullRequest === pullRequest) return { ...workflow, pullRequest };
  const { headRef: _, headSha: __, headRepository: ___, ...rest } = workflow;
  return { ...rest, pullRequest };
}

/** Guesses the deployment's name from invalid input. */
function guessName(inputs: Inputs, file: { text: string; path: string } | undefined): string | undefined {
  const input = (name: string): string | undefined => inputs[name]?.trim() || undefined;
  const read = file && readDrafts(file.text, file.path);
  const drafts = read?.ok ? read.drafts : [];
  const chosen = input('deployment');
  const draft = drafts.find(({ key }) => (chosen === undefined ? drafts.length === 1 : key === chosen));
  const written = draft?.fields.get('name')?.value;
  const named = typeof written === 'string' ? written.trim() : undefined;
  return input('name') ?? (named || undefined) ?? chosen ?? input('deployment-id');
}

function guessMode(inputs: Inputs): Mode {
  const mode = optionInputs.mode.words.find((each) => each === inputs['mode']?.trim()) ?? optionInputs.mode.default;
  return mode === 'deploy' && inputs['dry-run']?.trim().toLowerCase() === 'true' ? 'plan' : mode;
}

/** What to show on GitHub besides the step itself. */
export interface GitHubReporting {
  token: string;
  comment: boolean;
  deployment: boolean;
  /** The environment of the GitHub Deployment; by default the deployment's name. */
  environment: string | undefined;
}

/** Reads the inputs that need `github-token`. `reporting` is undefined without a token or anything to report. */
export function readGitHubInputs(inputs: Inputs): { reporting: GitHubReporting | undefined; problems: Problem[] } {
  const read = new OptionReader(inputs);
  const token = read.text('github-token');
  const comment = read.flag('comment');
  const deployment = read.flag('github-deployment');
  const environment = read.text('environment');
  if (token === undefined && deployment) {
    read.addProblem('github-token', 'github-deployment needs github-token: give github.token');
  }
  const isRequested = token !== undefined && (comment || deployment);
  return {
    reporting: isRequested ? { token, comment, deployment, environment } : undefined,
    problems: read.problems,
  };
}

/** Inputs with which a workflow overrides what the event says about its run. */
interface RunSubject {
  /** Deploys exactly this commit. */
  commit?: string;
  pullRequest?: number;
  /** The commit of a fork that a person approved. */
  approvedCommit?: string;
}

/** Reads the inputs about the commit and the pull request of the run. */
function readRunSubject(inputs: Inputs): { subject: RunSubject; problems: Problem[] } {
  const read = new OptionReader(inputs);
  const commit = read.text('commit')?.toLowerCase();
  const approvedCommit = read.text('approved-commit')?.toLowerCase();
  const pull = read.text('pull-request');
  for (const [name, sha] of [['commit', commit] as const, ['approved-commit', approvedCommit] as const]) {
    if (sha === undefined || /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(sha)) continue;
    read.addProblem(name, `${name} is the full SHA of a commit, of 40 characters`);
  }
  if (pull !== undefined && !/^[1-9]\d{0,9}$/.test(pull)) {
    read.addProblem('pull-request', 'pull-request is the number of a pull request');
  }
  const subject = {
    ...(commit === undefined ? {} : { commit }),
    ...(approvedCommit === undefined ? {} : { approvedCommit }),
    ...(pull === undefined ? {} : { pullRequest: Number(pull) }),
  };
  return { subject: read.problems.length > 0 ? {} : subject, problems: read.problems };
}
