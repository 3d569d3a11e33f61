import { asSentence, capitalized } from '../../kit/plain-text.ts';
import { asCode, asMarkdown } from '../words/sanitize.ts';
import type { CommandOutcome, CommandRefusal } from './outcomes.ts';
import { refusalWords, resultWords } from './words.ts';

/** A command that a comment gave. */
export interface CommentCommand {
  commentId: number;
  /** The login of the person. */
  by: string;
  /** As it was given, bounded. */
  text: string;
  /** ms since the epoch */
  takenAt: number;
  /** Absent: it has not ended. */
  outcome?: CommandOutcome;
}

/** A command that has ended. */
export type EndedCommand = CommentCommand & { outcome: CommandOutcome };

/** How many earlier commands are listed. */
export const maxEarlier = 4;

/**
 * The answer to a command in escaped Markdown, with the commands before it. What is said to a person who may give none
 * stands below the last answer to those who may.
 *
 * @param last the newest commands of those who may, newest first.
 */
export function answerTo(command: EndedCommand, last: readonly CommentCommand[], isFirst = false): string {
  const others = last.filter(({ commentId }) => commentId !== command.commentId).flatMap(ended);
  if (command.outcome.code !== 'no-write') return answer(command, others.slice(0, maxEarlier), isFirst);
  const [newest, ...earlier] = others;
  return [...(newest ? [answer(newest, earlier.slice(0, maxEarlier), false)] : []), lineOf(command)].join('\n\n');
}

const answer = (command: EndedCommand, earlier: readonly EndedCommand[], isFirst: boolean): string =>
  answerWith(command, earlier.map(lineOf), isFirst);

/** The answer to a command with the lines of those before it. */
export function answerWith(command: EndedCommand, earlier: readonly string[], isFirst: boolean): string {
  const { outcome } = command;
  const sections = [
    `### ${hasSucceeded(outcome) ? '✅' : '❌'} ${headOf(command)}`,
    sentencesOf(outcome),
    ...(isFirst ? ['Only the first command of a comment is taken.'] : []),
    ...(outcome.kind === 'done' && outcome.details ? [outcome.details] : []),
    ...earlierSection(earlier),
  ];
  return sections.join('\n\n');
}

/** Whether a command did what it is for. */
export const hasSucceeded = (outcome: CommandOutcome): boolean =>
  outcome.kind === 'done' && (outcome.code !== 'ran' || (outcome.passes && outcome.outcome !== 'neutral'));

/** Who gave which command, and when. A login in code notifies no one. */
export const headOf = ({ text, by, takenAt }: Pick<CommentCommand, 'text' | 'by' | 'takenAt'>): string =>
  `${asCode(text)} by ${asCode(by)}, ${new Date(takenAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function sentencesOf(outcome: CommandOutcome): string {
  if (outcome.kind === 'done') return `${asMarkdown(asSentence(resultWords(outcome)), 1000)}${linkOf(outcome)}`;
  const { why, advice } = refusalWords(outcome);
  return `${capitalized(nothingDone(outcome))}: ${asMarkdown(asSentence(why), 1000)} ${asMarkdown(advice, 1000)}`;
}

/** GitHub makes a link to the commit, and to its checks, of a whole id. */
const linkOf = (outcome: Extract<CommandOutcome, { kind: 'done' }>): string =>
  'commit' in outcome && /^[0-9a-f]{40,64}$/i.test(outcome.commit)
    ? ` Its check on ${outcome.commit} shows the progress.`
    : '';

const ended = (command: CommentCommand): EndedCommand[] =>
  command.outcome ? [{ ...command, outcome: command.outcome }] : [];

type Code = CommandOutcome['code'];

/** Whether it is wrong with the workflow rather than with the command. */
export const isFaultOfWorkflow = (code: Code): boolean => code === 'rights-unread' || code === 'no-file';

/** Whether it refuses one attempt of a run: another one may carry the command out. */
export const isOfAttempt = (code: Code): boolean => isFaultOfWorkflow(code) || code === 'rerun-by-other';

/** What a refusal says was not done: of an earlier attempt nobody knows it. */
const nothingDone = ({ code }: CommandRefusal): string =>
  code === 'begun-before' || isOfAttempt(code) ? 'this attempt did nothing' : 'nothing was done';

/** The commands before, folded away. */
export const earlierSection = (items: readonly string[]): string[] =>
  items.length === 0
    ? []
    : [['<details><summary>Earlier commands</summary>', '', ...items, '', '</details>'].join('\n')];

/** A command and its end as an item of a list. */
export const lineOf = (command: EndedCommand): string =>
  command.outcome.kind === 'done'
    ? itemOf(command, lineWords(command.outcome))
    : `- ${headOf(command)}: ${nothingDone(command.outcome)}: ${asMarkdown(asSentence(refusalWords(command.outcome).why))}`;

/** The same with words that were kept: plain text. */
export const itemOf = (command: Pick<CommentCommand, 'text' | 'by' | 'takenAt'>, words: string): string =>
  `- ${headOf(command)}: ${asMarkdown(words)}`;

/** How a command ended, in one line of plain text. */
export const lineWords = (outcome: CommandOutcome): string =>
  outcome.kind === 'done'
    ? asSentence(resultWords(outcome))
    : `${nothingDone(outcome)}: ${asSentence(refusalWords(outcome).why)}`;

/** A sentence for the log. */
export const logWords = (outcome: CommandOutcome): string =>
  outcome.kind === 'done' ? resultWords(outcome) : capitalized(refusalWords(outcome).why);
