import * as core from '@actions/core';
import { context } from '@actions/github';
import type { DesiredDeployment } from '../config/desired.ts';
import type { Mode } from '../config/entry-options.ts';
import type { Inputs } from '../config/input-table.ts';
import type { Workflow } from '../planning/commit.ts';
import type { Outcome } from '../deploy/outcome-types.ts';
import { refuse, reportOutcome, writeSummary, Progress } from './report-outcome.ts';
import type { GitHubReporting } from './read-request.ts';
import { readWorkflow } from './workflow.ts';
import { endedWhilePacking, packSourceDir } from './pack-source-dir.ts';
import type { RunReporter } from './create-run-reporter.ts';
import { version } from './version.ts';
import { secretParts, shortestHidden, spellingsOf } from '../contract/secret-spellings.ts';
import { readFileSync } from 'node:fs';
import { sep } from 'node:path';

/** How long a cancelled step may take to end by itself (ms). A runner kills it after 7.5 s. */
const goneWithinMs = 1500;

/** The whole step: reads the inputs, runs the deployment, sets the outputs. Only a bug rejects. */
export async function run(): Promise<void> {
  const cancelled = new AbortController();
  const leave = (): void => {
    cancelled.abort();
    // The run ends by itself after the abort; this timeout covers the case that it does not.
    setTimeout(() => process.exit(1), goneWithinMs).unref();
  };
  // Before anything else: a step that is cancelled while it loads has outputs to set as well.
  process.on('SIGINT', leave).on('SIGTERM', leave);
  try {
    const { outcome, shown } = await runAction(cancelled.signal);
    reportOutcome(outcome);
    await writeSummary(outcome);
    await shown?.concluded(outcome);
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave);
  }
}

/** The outcome of the run, and the reporter that still has to send it to GitHub. */
interface ActionOutcome {
  outcome: Outcome;
  shown?: RunReporter | undefined;
}

async function runAction(signal: AbortSignal): Promise<ActionOutcome> {
  const apiKey = core.getInput('api-key');
  mask([apiKey, core.getInput('github-token')]);
  const { workflow, withoutSecrets } = readWorkflow(context, process.env['GITHUB_REPOSITORY']);
  if (!apiKey && withoutSecrets) return { outcome: neutral };
  // Loaded late: a run that has nothing to send needs none of it.
  await import('../contract/interpret-schemas.ts');
  const [{ readRequest, readGitHubInputs }, { defaultConfigPath }, { inputProblem }, { inputs: table }] =
    await Promise.all([
      import('./read-request.ts'),
      import('../config/deploy-file.ts'),
      import('../config/inputs.ts'),
      import('../config/input-table.ts'),
    ]);
  const inputs: Inputs = Object.fromEntries([...table.keys()].map((name) => [name, core.getInput(name)]));
  const deployFile = readWorkspaceFile(inputs['config'] || defaultConfigPath);
  if (deployFile.kind === 'unreadable') {
    return { outcome: refuse([inputProblem('config', `config ${deployFile.why}`)]) };
  }
  const file = deployFile.kind === 'read' ? { file: deployFile.file } : {};
  const request = readRequest({ inputs, ...file, env: process.env });
  const { reporting, problems } = readGitHubInputs(inputs);
  if (!request.ok) {
    const lacksFile = deployFile.kind === 'absent' && request.problems.some(({ field }) => fromFile.has(field));
    const advice = lacksFile ? checkOut(inputs['config'] || defaultConfigPath) : undefined;
    return { outcome: refuse([...request.problems, ...problems], advice) };
  }
  if (problems.length > 0) return { outcome: refuse(problems) };
  const { options, deployment } = request;
  mask((deployment.desired.secrets ?? []).map(({ value }) => value));
  if (!options.apiKey) return { outcome: keyless };

  const packed = await packSourceDir(deployment.desired, signal);
  if (packed.kind === 'ended') return { outcome: endedWhilePacking };
  if (packed.kind === 'wrong') return { outcome: refuse(packed.problems) };
  const { runDeployment } = await import('./run-deployment.ts');
  const shown = reporting && workflow ? await startReporter(reporting, workflow, options.mode, deployment) : undefined;
  const progress = new Progress();
  try {
    const outcome = await runDeployment({
      options,
      deployment,
      workflow,
      tarball: packed.tarball,
      userAgent: `landfall-action/${version}`,
      signal,
      emit: (event) => {
        progress.emit(event);
        shown?.emit(event);
      },
      mask: (secret) => mask([secret]),
    });
    return { outcome, shown };
  } finally {
    progress.close();
  }
}

/** Loaded only where a token is given. */
async function startReporter(
  reporting: GitHubReporting,
  { repository, headSha }: Workflow,
  mode: Mode,
  { desired }: DesiredDeployment,
): Promise<RunReporter> {
  const { createRunReporter } = await import('./create-run-reporter.ts');
  const { sha, apiUrl, serverUrl, runId, runAttempt, payload } = context;
  const facts = { repository, headSha, sha, apiUrl, serverUrl, runId, runAttempt, payload };
  const name = desired.name ?? desired.deploymentId ?? 'deployment';
  return createRunReporter(reporting, facts, { mode, name }, (message) => core.warning(message));
}

function mask(values: readonly string[]): void {
  for (const each of masksOf(values)) core.setSecret(each);
}

const neutral: Outcome = {
  kind: 'neutral',
  passes: true,
  reason: 'this run gets no secrets (a fork or Dependabot), so no request was sent and nothing was deployed',
  changed: false,
  notes: [],
};

/** What may be wrong because the deploy file is not there. */
const fromFile: ReadonlySet<string> = new Set(['config', 'deployment', 'name']);

const checkOut = (path: string): string =>
  `Correct the inputs named above. There is no deploy file at ${path}; if you want to use one, run actions/checkout before this step. Nothing was sent`;

const keyless: Outcome = {
  kind: 'refused',
  passes: false,
  reason: 'api-key is empty',
  advice:
    'Give the key of the control service as api-key, from a secret that this workflow and its environment may read',
  changed: false,
  notes: [],
};

/** An address without a user: a log whose addresses are masked cannot be read. */
const isAddress = (text: string): boolean => /^https?:\/\/[^@]*$/i.test(text);

/**
 * What has to be masked so that a secret shows nowhere: the whole and each of its lines, in every spelling. Short
 * values and addresses are left out, for masking them would make the log unreadable.
 */
export function masksOf(secrets: readonly string[]): string[] {
  const parts = secrets.flatMap(secretParts).filter((part) => part.trim().length >= shortestHidden && !isAddress(part));
  return [...new Set(parts.flatMap(spellingsOf).map((spelling) => spelling.trim()))];
}

/** What reading a file of the workspace found: its text and its path for annotations, no file, or a reason. */
type WorkspaceFile =
  | { kind: 'read'; file: { text: string; path: string } }
  | { kind: 'absent' }
  /** One clause that goes on from the name of the input. */
  | { kind: 'unreadable'; why: string };

/** Reads a text file, relative to the workspace, which is the working directory of a step. */
function readWorkspaceFile(path: string): WorkspaceFile {
  try {
    return { kind: 'read', file: { text: readFileSync(path, 'utf8'), path: annotated(path, sep) } };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return { kind: 'absent' };
    const why = error.code === 'EISDIR' ? 'names a folder' : `names a file that cannot be read (${String(error.code)})`;
    return { kind: 'unreadable', why };
  }
}

/** GitHub finds the file of an annotation by slashes; a path of Windows may have been written with backslashes. */
export const annotated = (path: string, separator: string): string =>
  path.replaceAll(separator, '/').replace(/^(?:\.\/+)+/, '');
