import { readRequest, type ReadRequest } from '../host/read-request.ts';
import { openJournal, type OpenedJournal } from '../host/journal-file.ts';
import { openPlan } from '../host/plan-file.ts';
import { endedWhilePacking, packSourceDir, runDeployment } from '../host/run-deployment.ts';
import { cancelOnSignal } from '../host/cancel-on-signal.ts';
import { version } from '../kit/version.ts';
import type { ReceiptTarget } from '../host/write-receipt.ts';
import { systemClock as clock } from '../kit/clock.ts';
import { defaultConfigPath } from '../deploy/file/deploy-file.ts';
import type { Desired, RunSubject } from '../deploy/file/desired.ts';
import type { EntryOptions } from '../deploy/file/entry-options.ts';
import type { Inputs } from '../deploy/file/input-table.ts';
import { inputProblem } from '../deploy/file/inputs.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import type { DeployEvent } from '../deploy/machine/deploy-event.ts';
import type { Problem } from '../kit/diagnostics/problem.ts';
import { stackOf } from '../kit/errors.ts';
import { outcomeLines, eventLines } from '../deploy/words/event-lines.ts';
import { withAnswers } from '../deploy/file/smoke-test.ts';
import { whyTooFewAnswers } from '../deploy/words/costs.ts';
import { toResultJson } from '../deploy/words/result-json.ts';
import { exitCodes, type ExitCode, complain, onCommandLine } from './problems.ts';
import { noJournalWithoutKey } from '../client/exchange-token.ts';
import { keyOf, keyProblems } from './issue-key.ts';
import { readTextFile } from '../host/workspace.ts';
import { git, headOf, type GitHead } from '../host/git-head.ts';
import { nextActivity, createLiveLine, noLiveLine, type Activity } from './live-line.ts';
import { isKeyVariable, nextSteps, pageAfter } from './next-steps.ts';
import type { Terminal } from './terminal.ts';

/** The input of `plan`, `deploy`, `smoke`, `rollback` and `delete`. */
export interface DeployCommand {
  mode: RunSubject['mode'];
  inputs: Inputs;
  /** The commit that `repo-ref` points at, if given. */
  commit: string | undefined;
  /** Whether to continue an interrupted run. */
  resume?: boolean;
}

/** The whole command: reads the input, prints the progress and the outcome. */
export async function deployCommand(command: DeployCommand, terminal: Terminal): Promise<ExitCode> {
  terminal.hide(command.inputs['api-key'] ?? '');
  const request = readCommand(command);
  if (!request.ok) return refuse(request.problems, terminal);
  const { options, subject } = request;
  const desired = 'desired' in subject ? subject.desired : undefined;
  for (const { value } of desired?.secrets ?? []) terminal.hide(value);

  const ids: Ids = {};
  let liveLine = noLiveLine;
  const cancelled = cancelOnSignal(() => {
    for (const line of idLines(ids)) terminal.print(line);
  });
  try {
    const packed = await packSourceDir(subject, options, cancelled.signal);
    if (packed.kind === 'ended') return conclude(endedWhilePacking, terminal);
    if (packed.kind === 'wrong') return refuse(packed.problems, terminal);
    const head = desired && (await headToBuild(desired, command.commit, terminal));
    if (head?.kind === 'absent') {
      const noRef = `the repository has no ${head.ref}`;
      return refuse([onCommandLine(inputProblem('repo-ref', noRef, head.near))], terminal);
    }
    const key = await keyOf(options, terminal);
    if (typeof key === 'number') return key;
    const run = { options: { ...options, apiKey: key.apiKey }, subject, head: head?.sha, tarball: packed.tarball };
    const opened = await journalOf(run, key, command);
    if (!opened.ok) return refuse([onCommandLine(opened.problem)], terminal);
    const plan = openPlan(run.options);
    if (!plan.ok) return refuse([onCommandLine(plan.problem)], terminal);
    if (opened.note) terminal.print(`Note: ${opened.note}`);
    liveLine = await createLiveLine(process.stderr, { clock, mask: (text) => terminal.masked(text), env: process.env });
    terminal.keepBelow(liveLine);
    let activity: Activity | undefined;
    const outcome = await runDeployment({
      ...run,
      journal: opened.journal,
      kept: opened.kept,
      userAgent: `landfall-cli/${version}`,
      plan: plan.plan,
      receipt: receiptOf(options, terminal),
      signal: cancelled.signal,
      emit: (event) => {
        noteIds(ids, event);
        for (const line of eventLines(event)) terminal.print(line);
        activity = nextActivity(event, activity, clock.now());
        liveLine.show(activity);
      },
      mask: (secret) => terminal.hide(secret),
    });
    liveLine.end();
    const code = conclude(outcome, terminal);
    if (desired && command.mode === 'deploy' && outcome.passes) {
      const about = {
        name: desired.name,
        smokeTests: subject.smokeTests,
        hasKeyVariable: isKeyVariable(command.inputs['api-key'], process.env),
      };
      for (const line of nextSteps(outcome, about, await pageAfter(outcome, run.options))) terminal.print(line);
    }
    return code;
  } catch (error) {
    // A bug is printed with its stack, in which secrets are masked.
    terminal.complain(stackOf(error));
    return exitCodes.fails;
  } finally {
    liveLine.end();
    cancelled.end();
  }
}

/** The journal of a run. It is sealed with the key, so that a run whose key is issued for it alone keeps none. */
async function journalOf(
  run: Parameters<typeof openJournal>[0],
  { isIssued }: { isIssued: boolean },
  { resume = false }: DeployCommand,
): Promise<OpenedJournal> {
  const path = run.options.journalPath;
  if (!isIssued) return openJournal(run, { path, resume, env: process.env });
  return path === undefined ? { ok: true } : { ok: true, note: noJournalWithoutKey };
}

/** Where the receipt of a command is written. */
function receiptOf({ receiptPath: path }: EntryOptions, terminal: Terminal): ReceiptTarget | undefined {
  if (path === undefined) return undefined;
  return {
    path,
    program: 'cli',
    written: () => terminal.print(`Receipt: ${path}`),
    failed: (why) => terminal.complain(`The receipt was not written: ${why}. Name a file that can be written.`),
  };
}

const resumeNeedsKey = 'a run is continued with the key that it began with: set LANDFALL_API_KEY';

/** Reads the request from the command line, or every problem with it. */
function readCommand({ mode, inputs, commit, resume = false }: DeployCommand): ReadRequest {
  const path = inputs['config']?.trim() || defaultConfigPath;
  const file = readTextFile(path);
  const request = readRequest({
    inputs: { ...inputs, mode },
    ...(file.kind === 'read' ? { file: { text: file.text, path } } : {}),
    env: process.env,
  });
  const tries = mode === 'smoke' ? inputs['tries']?.trim() : undefined;
  const problems = [
    ...(file.kind === 'unreadable' ? [file.problem] : request.ok ? [] : request.problems),
    ...(resume && !inputs['api-key']?.trim() ? [inputProblem('api-key', resumeNeedsKey)] : keyProblems(inputs)),
    ...(tries === undefined || isNumberOfTries(tries) ? [] : [inputProblem('tries', triesProblem)]),
    ...(commit === undefined || /^[0-9a-f]{7,64}$/i.test(commit) ? [] : [inputProblem('commit', commitProblem)]),
  ];
  if (!request.ok || problems.length > 0) return { ok: false, problems: problems.map(onCommandLine) };
  if (tries === undefined) return request;
  const tooFew = request.subject.smokeTests.flatMap((test) => whyTooFewAnswers(test, Number(tries)) ?? []);
  if (tooFew.length > 0) return { ok: false, problems: tooFew.map((why) => onCommandLine(inputProblem('tries', why))) };
  const smokeTests = request.subject.smokeTests.map((test) => withAnswers(test, Number(tries)));
  return { ...request, subject: { ...request.subject, smokeTests } };
}

const isNumberOfTries = (text: string): boolean => /^[1-9]\d{0,3}$/.test(text) && Number(text) <= 1_000;
const triesProblem = 'tries is a whole number from 1 to 1000';

const commitProblem = 'a commit is given by its sha, of at least 7 characters';

/**
 * The commit that a build would use now. If it is unknown, this prints a note, and the plan builds again to be sure.
 */
async function headToBuild(
  desired: Desired,
  commit: string | undefined,
  terminal: Terminal,
): Promise<Exclude<GitHead, { kind: 'unknown' }> | undefined> {
  if (commit !== undefined) return { kind: 'known', sha: commit };
  if (desired.source !== 'github') return undefined;
  const { repoUrl, repoRef } = desired;
  if (repoUrl === undefined || repoRef === undefined) return undefined;
  const head = await headOf({ repoUrl, repoRef }, git);
  if (head.kind === 'known' && (await git(['status', '--porcelain', '--untracked-files=no']))?.trim())
    terminal.print(`Note: uncommitted changes here are not deployed: ${repoRef} of the repository is`);
  if (head.kind !== 'unknown') return head;
  terminal.print(`Note: the commit of ${repoRef} is not known here, for ${head.why}; set it with --commit`);
  return undefined;
}

function refuse(problems: readonly Problem[], terminal: Terminal): ExitCode {
  complain(terminal, problems);
  const reason = `${problems.length} ${problems.length === 1 ? 'thing is' : 'things are'} wrong in the input`;
  const advice = 'Correct what is named; nothing was sent';
  const outcome: Outcome = { kind: 'refused', passes: false, reason, advice, changed: false, notes: [] };
  terminal.conclude({ ...toResultJson(outcome), problems });
  return exitCodes.wrongUsage;
}

function conclude(outcome: Outcome, terminal: Terminal): ExitCode {
  for (const line of [...outcomeLines(outcome), ...idLines(outcome)]) terminal.print(line);
  terminal.conclude(toResultJson(outcome));
  return outcome.passes ? exitCodes.passes : exitCodes.fails;
}

/** The ids that a person needs to continue manually. */
type Ids = Pick<Outcome, 'deploymentId' | 'revisionId' | 'activeRevisionId'>;

const idLines = ({ deploymentId, revisionId, activeRevisionId }: Ids): string[] => [
  ...(deploymentId ? [`Deployment: ${deploymentId}`] : []),
  ...(revisionId ? [`Revision: ${revisionId}`] : []),
  ...(activeRevisionId && activeRevisionId !== revisionId ? [`Active revision: ${activeRevisionId}`] : []),
];

function noteIds(ids: Ids, event: DeployEvent): void {
  if (event.kind === 'looked' && event.deploymentId !== undefined) ids.deploymentId = event.deploymentId;
  if (event.kind === 'deleting') ids.deploymentId = event.deploymentId;
  if (event.kind !== 'started') return;
  ids.deploymentId = event.deploymentId;
  ids.revisionId = event.revisionId;
}
