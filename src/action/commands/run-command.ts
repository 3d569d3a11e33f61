import { isTransient, ServiceError } from '../../contract/service-error.ts';
import { hasSucceeded, isFaultOfWorkflow, isOfAttempt, lineWords, logWords } from '../../deploy/commands/answer.ts';
import { refusalOfCommand, refusalOfPerson } from '../../deploy/commands/decide.ts';
import type { Command, CommandName } from '../../deploy/commands/definitions.ts';
import type { CommandRefusal } from '../../deploy/commands/outcomes.ts';
import { textOf } from '../../deploy/commands/parse.ts';
import { samePins, type CommandRecord } from '../../deploy/commands/records.ts';
import { commandTable } from '../../deploy/commands/words.ts';
import type { Outcome } from '../../deploy/machine/outcome-types.ts';
import { asLine } from '../../deploy/words/sanitize.ts';
import { lacksPermission } from '../../github/refusal.ts';
import { refusal as failed } from '../report-outcome.ts';
import { deploy, promote, rollBack, runTests } from './act.ts';
import { candidatesOf } from './candidates.ts';
import { readPull } from './command-pull.ts';
import type { GivenCommand } from './given-command.ts';
import { permissionOf, react, readFile, stateOfComment, type CommandGitHub } from './github-reads.ts';
import { plan, preview, status } from './look.ts';
import { refuse, type CommandControl, type Performance, type Performed } from './performance.ts';
import { keptRecords, writeAnswer, writeAside, writeBegun, type AnsweredPull } from './sticky-comment.ts';

/** What a command is carried out with. */
export interface CommandRun extends Pick<Performance, 'given' | 'run' | 'only' | 'options' | 'now' | 'sha'> {
  github: CommandGitHub;
  /** The path of the deploy file. */
  path: string;
  /** Who started this run again; undefined in its first attempt. */
  rerunBy: string | undefined;
  runUrl: string | undefined;
  /** Connects to the control service, or says why that is not possible. */
  connect: () => Promise<{ ok: true; control: CommandControl } | { ok: false; outcome: Outcome }>;
  warn: (message: string) => void;
}

/** A run of a command that has nothing to do. */
export const passedOver = (reason: string): Outcome => ({
  kind: 'neutral',
  passes: true,
  reason,
  changed: false,
  notes: [],
});

/**
 * Carries out the command of a comment, once: what is decided is kept in the comment that answers it before anything
 * is changed, and a run that is started again finds it there.
 */
export async function runCommand(run: CommandRun): Promise<Outcome> {
  try {
    return await answerCommand(run);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    await reactTo(run, 'confused');
    const advice = lacksPermission(error)
      ? 'Give the job `permissions: contents: read` and `pull-requests: write`, and start it again'
      : 'Start the run again; what was done is not done twice';
    return failed(`The command was not carried out to its end: ${asLine(error.message, 300)}`, advice);
  }
}

async function answerCommand(run: CommandRun): Promise<Outcome> {
  const { given, github, warn } = run;
  const comment = await stateOfComment(given, github);
  if (comment === 'gone') return passedOver('the comment of the command is not there any more');
  const pull: AnsweredPull = { ...github, number: given.number };
  const begun = {
    commentId: given.commentId,
    by: given.by.login,
    text: textOf(given.parsed),
    takenAt: given.writtenAt,
  };
  await reactTo(run, 'eyes');
  const kept = (await keptRecords(pull)).find(({ commentId }) => commentId === given.commentId);
  if (kept?.end)
    return { ...passedOver(`The command was answered before: ${kept.end.line}`), command: end(given, kept.end.code) };
  const record: CommandRecord = { ...begun, ...(kept?.pins ? { pins: kept.pins } : {}) };
  const performed = await carryOut(run, record, comment === 'edited', pull).then((end) => sinceBegun(end, kept));
  if ('kind' in performed) {
    await reactTo(run, 'confused');
    return performed;
  }
  const { outcome } = performed;
  const { code } = outcome;
  try {
    const isFirst = given.parsed.kind === 'command' && given.parsed.isFirst === true;
    const ended = { ...begun, outcome };
    if (code === 'no-write' || code === 'rights-unread') await writeAside(ended, pull);
    else {
      // One that was ended midway, or that the workflow could not carry out, goes on where its run is started again.
      const isOpen = performed.run?.kind === 'interrupted' || isOfAttempt(code);
      const last = { code, isDone: hasSucceeded(outcome), line: lineWords(outcome) };
      await writeAnswer(isOpen ? record : { ...record, end: last }, ended, isFirst, pull);
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    warn(
      `The command was not answered: ${asLine(error.message, 300)}. Check that the job has \`permissions: pull-requests: write\`.`,
    );
  }
  await reactTo(run, hasSucceeded(outcome) ? '+1' : 'confused');
  return outcomeOf(performed, given);
}

/** A refusal of a later attempt says nothing of what an earlier one has done. */
function sinceBegun(performed: Performed | Outcome, kept: CommandRecord | undefined): Performed | Outcome {
  if (!kept?.pins || 'kind' in performed || performed.outcome.kind !== 'refused') return performed;
  if (isOfAttempt(performed.outcome.code)) return performed;
  const { deployment = 'the preview' } = kept.pins;
  return { ...performed, ...refuse({ code: 'begun-before', deployment }) };
}

/** A reaction is a courtesy. */
async function reactTo({ given, github, warn }: CommandRun, reaction: Parameters<typeof react>[1]): Promise<void> {
  try {
    await react(given.commentId, reaction, github);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    warn(`No reaction to the comment: ${asLine(error.message, 300)}.`);
  }
}

async function carryOut(
  run: CommandRun,
  record: CommandRecord,
  isEdited: boolean,
  pull: AnsweredPull,
): Promise<Performed | Outcome> {
  const { given, github, rerunBy } = run;
  const { login } = given.by;
  const permission = await permissionOf(given.by, github);
  if (permission === undefined) return refuse({ code: 'rights-unread', login });
  const stranger = refusalOfPerson(login, permission);
  if (stranger) return refuse(stranger);
  if (rerunBy !== undefined && rerunBy.toLowerCase() !== login.toLowerCase())
    return refuse({ code: 'rerun-by-other', login: rerunBy, by: login });
  if (isEdited) return refuse({ code: 'edited' });
  if (given.parsed.kind === 'problem') return refuse(given.parsed.problem);
  return obey(given.parsed.command, run, record, pull);
}

/** Carries out a command of a person who may give it. */
async function obey(
  command: Command,
  run: CommandRun,
  record: CommandRecord,
  answered: AnsweredPull,
): Promise<Performed | Outcome> {
  const { given, github, path, only, options, now, sha } = run;
  const { name } = command;
  const pull = await readPull(given.number, github);
  const facts = { isLocked: pull.isLocked, pull, ageMs: now() - given.writtenAt };
  const refusal = refusalOfCommand(name, facts);
  if (refusal) return refuse(refusal);
  if (name === 'help') return { outcome: { kind: 'done', code: 'helped', details: commandTable(true) } };
  if (name === 'cancel') return refuse({ code: 'cancel-by-workflow' });
  // That of the default branch, whatever is checked out here.
  const text = await readFile(path, undefined, github);
  if (text === undefined) return refuse({ code: 'no-file', path });
  const file = { text, path };
  const read = candidatesOf(file, only, pull);
  if (!read.ok) return refuse(read.refusal);
  const connected = await run.connect();
  if (!connected.ok) return connected.outcome;
  const { control } = connected;
  const begin = async (pins: CommandRecord['pins'] & {}, deployment: string): Promise<CommandRefusal | undefined> => {
    if (record.pins && !samePins(record.pins, pins)) return { code: 'begun-before', deployment };
    record.pins = pins;
    await writeBegun(record, run.runUrl, answered);
    return undefined;
  };
  const performance = {
    command,
    given,
    pull,
    github,
    file,
    found: read.found,
    only,
    control,
    options,
    now,
    begun: record.pins,
    sha,
    begin,
    run: run.run,
  };
  try {
    return await performances[name](performance);
  } catch (error) {
    // A refusal is final; anything else is tried again by another attempt of the run.
    if (!(error instanceof ServiceError) || isTransient(error) || isOfGitHub(error)) throw error;
    return refuse({ code: 'service-error', text: error.message });
  }
}

/** Whether an error is of GitHub and not of the control service: its operations are named by their routes. */
const isOfGitHub = ({ operation }: ServiceError): boolean => /^[A-Z]+ \//.test(operation);

const performances: Record<
  Exclude<CommandName, 'help' | 'cancel'>,
  (performance: Performance) => Promise<Performed>
> = {
  deploy,
  rollback: rollBack,
  promote,
  test: runTests,
  plan,
  preview,
  status,
};

/** The outcome of the step. A refused command was answered: the step passes, and the comment says why. */
function outcomeOf({ outcome, run }: Performed, given: GivenCommand): Outcome {
  const command = end(given, outcome.code);
  const reason = logWords(outcome);
  if (outcome.kind === 'refused') {
    const isFault = isFaultOfWorkflow(outcome.code);
    return { ...passedOver(reason), ...(isFault ? { kind: 'refused', passes: false } : {}), command };
  }
  if (run) return { ...run, command };
  const isChange = outcome.code === 'promoted';
  return { ...passedOver(reason), ...(isChange ? { kind: 'started', changed: true } : {}), command };
}

const end = ({ parsed }: GivenCommand, code: string): NonNullable<Outcome['command']> => ({
  ...(parsed.kind === 'command' ? { name: parsed.command.name } : {}),
  code,
});
