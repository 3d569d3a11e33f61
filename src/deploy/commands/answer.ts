import { asSentence, capitalized } from '../../kit/plain-text.ts';
import { asCode, asMarkdown } from '../words/sanitize.ts';
import type { CommandOutcome } from './outcomes.ts';
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

function answer(command: EndedCommand, earlier: readonly EndedCommand[], isFirst: boolean): string {
  const { outcome } = command;
  const sections = [
    `### ${outcome.kind === 'done' ? '✅' : '❌'} ${headOf(command)}`,
    sentencesOf(outcome),
    ...(isFirst ? ['Only the first command of a comment is taken.'] : []),
    ...(outcome.kind === 'done' && outcome.details ? [outcome.details] : []),
    ...earlierSection(earlier),
  ];
  return sections.join('\n\n');
}

/** Who gave which command, and when. A login in code notifies no one. */
const headOf = ({ text, by, takenAt }: CommentCommand): string =>
  `${asCode(text)} by ${asCode(by)}, ${new Date(takenAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

function sentencesOf(outcome: CommandOutcome): string {
  if (outcome.kind === 'done') return `${asMarkdown(asSentence(resultWords(outcome)), 1000)}${linkOf(outcome)}`;
  const { why, advice } = refusalWords(outcome);
  return `Nothing was done: ${asMarkdown(asSentence(why), 1000)} ${asMarkdown(advice, 1000)}`;
}

/** GitHub makes a link to the commit, and to its checks, of a whole id. */
const linkOf = (outcome: Extract<CommandOutcome, { kind: 'done' }>): string =>
  'commit' in outcome && /^[0-9a-f]{40,64}$/i.test(outcome.commit)
    ? ` Its check on ${outcome.commit} shows the progress.`
    : '';

const ended = (command: CommentCommand): EndedCommand[] =>
  command.outcome ? [{ ...command, outcome: command.outcome }] : [];

function earlierSection(commands: readonly EndedCommand[]): string[] {
  if (commands.length === 0) return [];
  const items = commands.map(lineOf);
  return [['<details><summary>Earlier commands</summary>', '', ...items, '', '</details>'].join('\n')];
}

const lineOf = (command: EndedCommand): string =>
  `- ${headOf(command)}: ${
    command.outcome.kind === 'done'
      ? asMarkdown(asSentence(resultWords(command.outcome)))
      : `nothing was done: ${asMarkdown(asSentence(refusalWords(command.outcome).why))}`
  }`;

/** A sentence for the log. */
export const logWords = (outcome: CommandOutcome): string =>
  outcome.kind === 'done' ? resultWords(outcome) : capitalized(refusalWords(outcome).why);
