import { secretParts, minHiddenLength, spellingsOf } from '../contract/masking/secret-spellings.ts';
import * as core from '@actions/core';
import { stackOf } from '../kit/errors.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import { print, refuse, reportOutcome, Progress } from './report-outcome.ts';
import type { ConnectedGitHub } from './github-connection.ts';
import { lookUpHead, withPullRequestHead } from './look-up-head.ts';
import { readRunEvent, type RunEvent } from './run-event.ts';
import { readWorkflow, type WorkflowRun } from './workflow.ts';
import type { DeployInputs } from '../host/run-deployment.ts';
import type { RunReporter } from './create-run-reporter.ts';
import type { StepInput } from './read-step.ts';
import { version } from '../host/version.ts';

/** How long a cancelled step may take to end by itself (ms). A runner kills it after 7.5 s. */
const goneWithinMs = 6_000;

/** The step, and what it has begun: every ending is reported there. */
interface Step {
  signal: AbortSignal;
  github?: ConnectedGitHub;
  reporter?: RunReporter | undefined;
}

/** The whole step: reads the inputs, runs the deployment, reports the outcome. A bug is an outcome, too. */
export async function run(): Promise<void> {
  const cancelled = new AbortController();
  const leave = (): void => {
    cancelled.abort();
    // The run ends by itself after the abort; this timeout covers the case that it does not.
    setTimeout(() => process.exit(1), goneWithinMs).unref();
  };
  // Before anything else: a step that is cancelled while it loads has outputs to set as well.
  process.on('SIGINT', leave).on('SIGTERM', leave);
  const step: Step = { signal: cancelled.signal };
  try {
    const outcome = await runAction(step).catch(failedByBug);
    await reportOutcome(outcome, async () => step.reporter?.concluded(outcome));
  } finally {
    await step.github?.close();
    process.off('SIGINT', leave).off('SIGTERM', leave);
  }
}

async function runAction(step: Step): Promise<Outcome> {
  const apiKey = core.getInput('api-key');
  mask([apiKey, core.getInput('github-token')]);
  const { event, problem: unreadEvent } = readRunEvent(process.env);
  if (unreadEvent) core.warning(unreadEvent);
  const triggered = readWorkflow(event);
  if (!apiKey && triggered.isPullRequest && triggered.withoutSecrets) return neutral;
  // Loaded late: a run that has nothing to send needs none of it.
  await import('../contract/interpret-schemas.ts');
  const { readStep } = await import('./read-step.ts');
  const input = readStep((name) => core.getInput(name), triggered, process.env);
  if (input.token !== undefined && event.repository) step.github = await connect(event, input.token);
  const found = await lookUp(step, input);
  step.reporter = await startReporter(step, event, input, found);
  const { request, problems, advice, commit } = input;
  if (!request.ok || problems.length > 0) return refuse(problems, advice);
  const { options, subject } = request;
  if ('desired' in subject) mask((subject.desired.secrets ?? []).map(({ value }) => value));
  if (!options.apiKey) return keyless(triggered);
  return deployPacked(step, { options, subject, ...found, commit });
}

/** What GitHub knows of the run beyond its event. */
type Found = Pick<DeployInputs, 'workflow' | 'head'>;

/** Looks up the head of the run's pull request, and of the ref that is deployed. */
async function lookUp({ github, signal }: Step, { workflow, request }: StepInput): Promise<Found> {
  const warn = (message: string): void => core.warning(message);
  const look = async (): Promise<Found> => {
    const subject = request.ok ? request.subject : undefined;
    const whole = workflow && (await withPullRequestHead(workflow, github, warn));
    const desired = subject && 'desired' in subject ? subject.desired : undefined;
    return { workflow: whole, head: desired && (await lookUpHead(desired, whole, github, warn)) };
  };
  const cancelled = new Promise<Found>((resolve) => {
    signal.addEventListener('abort', () => resolve({ workflow }));
  });
  return signal.aborted ? { workflow } : Promise.race([look(), cancelled]);
}

async function deployPacked(
  { signal, reporter }: Step,
  request: Pick<DeployInputs, 'options' | 'subject' | 'workflow' | 'head' | 'commit'>,
): Promise<Outcome> {
  const { endedWhilePacking, packSourceDir, runDeployment } = await import('../host/run-deployment.ts');
  const packed = await packSourceDir(request.subject, signal);
  if (packed.kind === 'ended') return endedWhilePacking;
  if (packed.kind === 'wrong') return refuse(packed.problems);
  const { journalPath: path } = request.options;
  const run = { ...request, tarball: packed.tarball };
  // Loaded only where a journal is asked for.
  const { openJournal } = path === undefined ? {} : await import('../host/journal-file.ts');
  const opened = await openJournal?.(run, { path, resume: false, env: process.env });
  if (opened?.ok === false) return refuse([opened.problem]);
  if (opened?.note) core.warning(opened.note);
  const progress = new Progress();
  try {
    return await runDeployment({
      ...run,
      journal: opened?.journal,
      kept: opened?.kept,
      userAgent: `landfall-action/${version}`,
      signal,
      emit: (event) => {
        progress.emit(event);
        reporter?.emit(event);
      },
      mask: (secret) => mask([secret]),
    });
  } finally {
    progress.close();
  }
}

/** Loaded only where a token is given. */
async function connect({ apiUrl }: RunEvent, token: string): Promise<ConnectedGitHub> {
  const { connectGitHub } = await import('./github-connection.ts');
  return connectGitHub(apiUrl, token, { userAgent: `landfall-action/${version}` });
}

async function startReporter(
  { github }: Step,
  event: RunEvent,
  { reporting, name, mode, commit, step }: StepInput,
  { workflow, head }: Found,
): Promise<RunReporter | undefined> {
  if (!reporting || !workflow || !github) return undefined;
  const { createRunReporter } = await import('./create-run-reporter.ts');
  const facts = { workflow, event, commit: commit ?? head, step };
  return createRunReporter(github, reporting, facts, { mode, name }, (message) => core.warning(message));
}

function mask(values: readonly string[]): void {
  for (const each of masksOf(values)) core.setSecret(each);
}

const neutral: Outcome = {
  kind: 'neutral',
  passes: true,
  reason: 'this run gets no secrets (a pull request of a fork or of Dependabot), so nothing was sent or deployed',
  changed: false,
  notes: [],
};

function keyless({ isDependabot }: WorkflowRun): Outcome {
  return {
    kind: 'refused',
    passes: false,
    reason: isDependabot
      ? 'api-key is empty: a run that Dependabot started gets the Dependabot secrets alone'
      : 'api-key is empty',
    advice: isDependabot
      ? 'Add the key to the Dependabot secrets of the repository (Settings, Secrets and variables, Dependabot), under the name that the workflow has for it'
      : 'Give the key of the control service as api-key, from a secret that this workflow and its environment may read',
    changed: false,
    notes: [],
  };
}

/** A bug keeps its stack in the log, and is reported where every other ending is. */
function failedByBug(error: unknown): Outcome {
  print(stackOf(error));
  return {
    kind: 'failed',
    passes: false,
    reason: 'Landfall ended by an error of its own, and it is unknown what it had changed',
    advice: 'Look at the deployment and its revisions, and report the stack in the log of this step',
    changed: false,
    notes: [],
  };
}

/** An address without a user: a log whose addresses are masked cannot be read. */
const isAddress = (text: string): boolean => /^https?:\/\/[^@]*$/i.test(text);

/**
 * What has to be masked so that a secret shows nowhere: the whole and each of its lines, in every spelling. Short
 * values and addresses are left out, for masking them would make the log unreadable.
 */
export function masksOf(secrets: readonly string[]): string[] {
  const parts = secrets
    .flatMap(secretParts)
    .filter((part) => part.trim().length >= minHiddenLength && !isAddress(part));
  return [...new Set(parts.flatMap(spellingsOf).map((spelling) => spelling.trim()))];
}
