import { readRequest, type ReadRequest } from '../host/read-request.ts';
import { openJournal } from '../host/journal-file.ts';
import { endedWhilePacking, packSourceDir, runDeployment } from '../host/run-deployment.ts';
import { version } from '../host/version.ts';
import { systemClock as clock } from '../kit/clock.ts';
import { defaultConfigPath } from '../deploy/file/deploy-file.ts';
import type { Desired } from '../deploy/file/desired.ts';
import type { Mode } from '../deploy/file/entry-options.ts';
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
import { exitCodes, type ExitCode, complain, keyless, onCommandLine } from './problems.ts';
import { readTextFile } from '../host/workspace.ts';
import { git, headOf, type GitHead } from '../host/git-head.ts';
import { activityAfter, liveLineOn, noLiveLine, type Activity } from './live-line.ts';
import type { Terminal } from './terminal.ts';

/** What `plan`, `deploy`, `smoke`, `rollback` and `delete` were given. */
export interface DeployCommand {
  mode: Mode;
  inputs: Inputs;
  /** The commit that `repo-ref` points at, where the person knows it. */
  commit: string | undefined;
  /** Goes on with the run that was interrupted. */
  resume?: boolean;
}

/** How long an interrupted command may take to end by itself (ms): longer than a held revision takes to be discarded. */
const goneWithinMs = 6_000;

/** The whole command: reads the input, prints the progress and the outcome. */
export async function deployCommand(command: DeployCommand, terminal: Terminal): Promise<ExitCode> {
  terminal.hide(command.inputs['api-key'] ?? '');
  const ask = read(command);
  if (!ask.ok) return refuse(ask.problems, terminal);
  const { options, subject } = ask;
  const desired = 'desired' in subject ? subject.desired : undefined;
  for (const { value } of desired?.secrets ?? []) terminal.hide(value);

  const cancelled = new AbortController();
  const ids: Ids = {};
  let live = noLiveLine;
  const leave = (): void => {
    cancelled.abort();
    // The run ends by itself after the abort; this timeout covers the case that it does not.
    setTimeout(() => {
      for (const line of idLines(ids)) terminal.print(line);
      process.exit(exitCodes.fails);
    }, goneWithinMs).unref();
  };
  process.on('SIGINT', leave).on('SIGTERM', leave);
  try {
    const packed = await packSourceDir(subject, cancelled.signal);
    if (packed.kind === 'ended') return end(endedWhilePacking, terminal);
    if (packed.kind === 'wrong') return refuse(packed.problems, terminal);
    const head = desired && (await headToBuild(desired, command.commit, terminal));
    if (head?.kind === 'absent') {
      const noRef = `the repository has no ${head.ref}`;
      return refuse([onCommandLine(inputProblem('repo-ref', noRef, head.near))], terminal);
    }
    const run = { options, subject, head: head?.sha, tarball: packed.tarball };
    const path = options.journalPath;
    const opened = await openJournal(run, { path, resume: command.resume === true, env: process.env });
    if (!opened.ok) return refuse([onCommandLine(opened.problem)], terminal);
    if (opened.note) terminal.print(`Note: ${opened.note}`);
    live = await liveLineOn(process.stderr, { clock, mask: (text) => terminal.masked(text), env: process.env });
    terminal.keepBelow(live);
    let activity: Activity | undefined;
    const outcome = await runDeployment({
      ...run,
      journal: opened.journal,
      kept: opened.kept,
      userAgent: `landfall-cli/${version}`,
      signal: cancelled.signal,
      emit: (event) => {
        noteIds(ids, event);
        for (const line of eventLines(event)) terminal.print(line);
        activity = activityAfter(event, activity, clock.now());
        live.show(activity);
      },
      mask: (secret) => terminal.hide(secret),
    });
    live.end();
    return end(outcome, terminal);
  } catch (error) {
    // A mistake of ours keeps its stack, but no secret in it.
    terminal.complain(stackOf(error));
    return exitCodes.fails;
  } finally {
    live.end();
    process.off('SIGINT', leave).off('SIGTERM', leave);
  }
}

/** The request from the command line, or every problem with it. */
function read({ mode, inputs, commit }: DeployCommand): ReadRequest {
  const path = inputs['config']?.trim() || defaultConfigPath;
  const file = readTextFile(path);
  const ask = readRequest({
    inputs: { ...inputs, mode },
    ...(file.kind === 'read' ? { file: { text: file.text, path } } : {}),
    env: process.env,
  });
  const tries = mode === 'smoke' ? inputs['tries']?.trim() : undefined;
  const problems = [
    ...(file.kind === 'unreadable' ? [file.problem] : ask.ok ? [] : ask.problems),
    ...(inputs['api-key']?.trim() ? [] : [inputProblem('api-key', keyless)]),
    ...(tries === undefined || isNumberOfTries(tries) ? [] : [inputProblem('tries', noTries)]),
    ...(commit === undefined || /^[0-9a-f]{7,64}$/i.test(commit) ? [] : [inputProblem('commit', noCommit)]),
  ];
  if (!ask.ok || problems.length > 0) return { ok: false, problems: problems.map(onCommandLine) };
  if (tries === undefined) return ask;
  const tooFew = ask.subject.smokeTests.flatMap((test) => whyTooFewAnswers(test, Number(tries)) ?? []);
  if (tooFew.length > 0) return { ok: false, problems: tooFew.map((why) => onCommandLine(inputProblem('tries', why))) };
  const smokeTests = ask.subject.smokeTests.map((test) => withAnswers(test, Number(tries)));
  return { ...ask, subject: { ...ask.subject, smokeTests } };
}

const isNumberOfTries = (text: string): boolean => /^[1-9]\d{0,3}$/.test(text) && Number(text) <= 1_000;
const noTries = 'tries is a whole number from 1 to 1000';

const noCommit = 'a commit is given by its sha, of at least 7 characters';

/** The commit that a build would use now. If it is unknown, this prints a note, and the plan builds again to be sure. */
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

function end(outcome: Outcome, terminal: Terminal): ExitCode {
  for (const line of [...outcomeLines(outcome), ...idLines(outcome)]) terminal.print(line);
  terminal.conclude(toResultJson(outcome));
  return outcome.passes ? exitCodes.passes : exitCodes.fails;
}

/** What a person needs to go on by hand. */
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
