import { secretParts, minHiddenLength, spellingsOf } from '../contract/masking/secret-spellings.ts';
import * as core from '@actions/core';
import { stackOf } from '../kit/errors.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import { print, refuse, reportOutcome, Progress } from './report-outcome.ts';
import type { ConnectedGitHub } from './github-connection.ts';
import type { BoundRun } from './commands/performance.ts';
import { withIssuedKey } from './issue-key.ts';
import { lookUpHead, withPullRequestHead } from './look-up-head.ts';
import { readRunEvent, type RunEvent } from './run-event.ts';
import { readWorkflow, type WorkflowRun } from './workflow.ts';
import type { DeployInputs } from '../host/run-deployment.ts';
import { receiptFiles, receiptWorkflow, type ReceiptFiles } from './receipt-target.ts';
import type { ReceiptTarget } from '../host/write-receipt.ts';
import type { RunReporter } from './create-run-reporter.ts';
import type { runPreviewStep } from './preview-step.ts';
import type { EntryOptions } from '../deploy/file/entry-options.ts';
import type { StepInput } from './read-step.ts';
import { cancelOnSignal } from '../host/cancel-on-signal.ts';
import { version } from '../kit/version.ts';

/** The running step, and where its outcome is reported. */
interface Step {
  signal: AbortSignal;
  github?: ConnectedGitHub;
  reporter?: RunReporter | undefined;
  /** The files of its receipt, once they are written. */
  receipt?: ReceiptFiles;
}

/** The whole step: reads the inputs, runs the deployment, reports the outcome. A bug is an outcome, too. */
export async function run(): Promise<void> {
  // First of all, because a step must also set its outputs if it is cancelled while it loads.
  const cancelled = cancelOnSignal();
  const step: Step = { signal: cancelled.signal };
  try {
    const outcome = await runAction(step).catch(bugOutcome);
    await reportOutcome(outcome, step.receipt, async () => step.reporter?.finish(outcome));
  } finally {
    await step.github?.close();
    cancelled.end();
  }
}

async function runAction(step: Step): Promise<Outcome> {
  const apiKey = core.getInput('api-key');
  mask([apiKey, core.getInput('github-token')]);
  const { event, problem: eventProblem } = readRunEvent(process.env);
  if (eventProblem) core.warning(eventProblem);
  const workflowRun = readWorkflow(event);
  // The run of a fork that gets a token may remove a preview, and deploys what a person approved.
  const mayExchange = core.getInput('mode') === 'preview' && Boolean(process.env['ACTIONS_ID_TOKEN_REQUEST_URL']);
  if (!apiKey && workflowRun.isPullRequest && workflowRun.withoutSecrets && !mayExchange) return noSecretsOutcome;
  // Loaded late, because a run that sends nothing does not need it.
  await import('../contract/interpret-schemas.ts');
  if (core.getInput('mode') === 'command') return command(step, event, workflowRun);
  const { readStep } = await import('./read-step.ts');
  return carryOut(
    step,
    event,
    workflowRun,
    readStep((name) => core.getInput(name), workflowRun, process.env),
  );
}

/** Carries out the command of a comment, by runs whose inputs it says. */
async function command(step: Step, event: RunEvent, workflowRun: WorkflowRun): Promise<Outcome> {
  const { runCommandStep } = await import('./commands/command-step.ts');
  return runCommandStep({
    event,
    workflowRun,
    getInput: (name) => core.getInput(name),
    connect: async (token) => {
      step.github = await connect(event, token);
      return step.github;
    },
    withKey: (options) => withIssuedKey(options, workflowRun, mask),
    carryOut: async (input, bound) => {
      const outcome = await carryOut(step, event, workflowRun, input, bound);
      await step.reporter?.finish(outcome);
      step.reporter = undefined;
      return outcome;
    },
    signal: step.signal,
    warn: (message) => core.warning(message),
  });
}

/** Runs what the inputs say. `bound`: what a command binds the run to. */
async function carryOut(
  step: Step,
  event: RunEvent,
  workflowRun: WorkflowRun,
  input: StepInput,
  { headSha, onceFor, expected }: Partial<BoundRun> = {},
): Promise<Outcome> {
  if (input.token !== undefined && event.repository) step.github ??= await connect(event, input.token);
  const runContext = await lookUp(step, input);
  step.reporter = await startReporter(step, event, input, runContext);
  const { request, problems, advice, commit } = input;
  if (!request.ok || problems.length > 0) return refuse(problems, advice);
  const { options, subject } = request;
  if ('desired' in subject) mask((subject.desired.secrets ?? []).map(({ value }) => value));
  const keyed = await withIssuedKey(options, workflowRun, mask);
  if ('kind' in keyed) return keyed;
  return subject.mode === 'preview'
    ? preview(step, { event, input, options: keyed, subject, workflow: runContext.workflow, headSha })
    : packAndDeploy(step, event, { options: keyed, subject, ...runContext, commit, onceFor, expected });
}

/** What GitHub knows about the run beyond its event. */
type RunContext = Pick<DeployInputs, 'workflow' | 'head'>;

/** Looks up the heads of the run's pull request and of the ref to deploy. */
async function lookUp({ github, signal }: Step, { workflow, request }: StepInput): Promise<RunContext> {
  const warn = (message: string): void => core.warning(message);
  const readHeads = async (): Promise<RunContext> => {
    const subject = request.ok ? request.subject : undefined;
    const completeWorkflow = workflow && (await withPullRequestHead(workflow, github, warn));
    const desired = subject && 'desired' in subject ? subject.desired : undefined;
    return { workflow: completeWorkflow, head: desired && (await lookUpHead(desired, completeWorkflow, github, warn)) };
  };
  const cancelled = new Promise<RunContext>((resolve) => {
    signal.addEventListener('abort', () => resolve({ workflow }));
  });
  return signal.aborted ? { workflow } : Promise.race([readHeads(), cancelled]);
}

async function packAndDeploy(
  step: Step,
  event: RunEvent,
  request: Pick<DeployInputs, 'options' | 'subject' | 'workflow' | 'head' | 'commit' | 'onceFor' | 'expected'>,
): Promise<Outcome> {
  const { endedWhilePacking, packSourceDir, runDeployment } = await import('../host/run-deployment.ts');
  const packed = await packSourceDir(request.subject, request.options, step.signal);
  if (packed.kind === 'ended') return endedWhilePacking;
  if (packed.kind === 'wrong') return refuse(packed.problems);
  const { signal, reporter } = step;
  const { journalPath: path } = request.options;
  const run = { ...request, tarball: packed.tarball };
  // Loaded only if a journal is requested.
  const { openJournal } = path === undefined ? {} : await import('../host/journal-file.ts');
  const opened = await openJournal?.(run, { path, resume: false, env: process.env });
  if (opened?.ok === false) return refuse([opened.problem]);
  if (opened?.note) core.warning(opened.note);
  const { openPlan } = request.options.planPath === undefined ? {} : await import('../host/plan-file.ts');
  const plan = openPlan?.(request.options);
  if (plan?.ok === false) return refuse([plan.problem]);
  const progress = new Progress();
  try {
    return await runDeployment({
      ...run,
      journal: opened?.journal,
      kept: opened?.kept,
      userAgent: `landfall-action/${version}`,
      plan: plan?.plan,
      receipt: receiptOf(step, event, request.options),
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

async function preview(
  step: Step,
  run: Pick<Parameters<typeof runPreviewStep>[0], 'event' | 'input' | 'options' | 'subject' | 'workflow' | 'headSha'>,
): Promise<Outcome> {
  const { runPreviewStep } = await import('./preview-step.ts');
  const { signal, github, reporter } = step;
  const progress = new Progress();
  const { subject } = run;
  // The only secrets of a preview, whatever becomes of it.
  const { secrets = [], forkSecrets = [] } = subject.deployment?.preview ?? {};
  mask([...secrets, ...forkSecrets].flatMap(({ from }) => process.env[from] ?? []));
  try {
    return await runPreviewStep({
      ...run,
      github,
      receipt: receiptOf(step, run.event, run.options),
      signal,
      emit: (event) => {
        progress.emit(event);
        reporter?.emit(event);
      },
      mask: (secret) => mask([secret]),
      warn: (message) => core.warning(message),
    });
  } finally {
    progress.close();
  }
}

/** Where the receipt of a step is written. */
function receiptOf(step: Step, event: RunEvent, { receiptPath }: EntryOptions): ReceiptTarget | undefined {
  const files = receiptFiles(receiptPath, process.env);
  if (!files) return undefined;
  return {
    ...files,
    program: 'action',
    workflow: receiptWorkflow(event, process.env),
    written: () => {
      step.receipt = files;
    },
    failed: (why) => core.warning(`The receipt was not written: ${why}. Check that this step may write ${files.path}.`),
  };
}

/** Connects to GitHub. Its client is loaded only if there is a token. */
async function connect({ apiUrl }: RunEvent, token: string): Promise<ConnectedGitHub> {
  const { connectGitHub } = await import('./github-connection.ts');
  return connectGitHub(apiUrl, token, { userAgent: `landfall-action/${version}` });
}

async function startReporter(
  { github }: Step,
  event: RunEvent,
  { reporting, name, mode, commit, step }: StepInput,
  { workflow, head }: RunContext,
): Promise<RunReporter | undefined> {
  if (!reporting || !workflow || !github) return undefined;
  const { createRunReporter } = await import('./create-run-reporter.ts');
  const facts = { workflow, event, commit: commit ?? head, step };
  return createRunReporter(github, reporting, facts, { mode, name }, (message) => core.warning(message));
}

function mask(values: readonly string[]): void {
  for (const each of masksOf(values)) core.setSecret(each);
}

const noSecretsOutcome: Outcome = {
  kind: 'neutral',
  passes: true,
  reason: 'this run gets no secrets (a pull request of a fork or of Dependabot), so nothing was sent or deployed',
  changed: false,
  notes: [],
};

/** Prints the stack of a bug, and returns an outcome that is reported like any other. */
function bugOutcome(error: unknown): Outcome {
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

/** Whether a text is an address without credentials. A log with masked addresses would be unreadable. */
const isAddress = (text: string): boolean => /^https?:\/\/[^@]*$/i.test(text);

/**
 * The texts to mask so that no secret is shown: each secret and each of its lines, in every spelling. Short values and
 * addresses are left out, because masking them would make the log unreadable.
 */
export function masksOf(secrets: readonly string[]): string[] {
  const parts = secrets
    .flatMap(secretParts)
    .filter((part) => part.trim().length >= minHiddenLength && !isAddress(part));
  return [...new Set(parts.flatMap(spellingsOf).map((spelling) => spelling.trim()))];
}
