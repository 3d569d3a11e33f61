import { asSentence, capitalized } from '../../src/kit/plain-text.ts';
import { asCode, asMarkdown } from '../../src/deploy/words/sanitize.ts';
import type { CommandOutcome } from './outcomes.ts';
import type { StoredCommand } from './stored-command.ts';
import { refusalWords, resultWords } from './words.ts';

/** A command that has ended. */
export type EndedCommand = Omit<StoredCommand, 'outcome'> & { outcome: CommandOutcome };

/** How many earlier commands are listed. */
export const maxEarlier = 4;

/** The answer to a command in escaped Markdown, with the commands before it. @param earlier newest first. */
export function answerTo(command: EndedCommand, earlier: readonly StoredCommand[], isFirst = false): string {
  const { outcome } = command;
  const sections = [
    `### ${outcome.kind === 'done' ? '✅' : '❌'} ${headOf(command)}`,
    sentencesOf(outcome),
    ...(isFirst ? ['Only the first command of a comment is taken.'] : []),
    ...(outcome.kind === 'done' && outcome.details ? [outcome.details] : []),
    ...earlierSection(earlier.flatMap(ended).slice(0, maxEarlier)),
  ];
  return sections.join('\n\n');
}

/** Who gave which command, and when. A login in code notifies no one. */
const headOf = ({ text, by, takenAt }: StoredCommand): string =>
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

const ended = (command: StoredCommand): EndedCommand[] =>
  command.outcome ? [{ ...command, outcome: command.outcome }] : [];

function earlierSection(commands: readonly EndedCommand[]): string[] {
  if (commands.length === 0) return [];
  const items = commands.map(
    (each) =>
      `- ${headOf(each)}: ${
        each.outcome.kind === 'done'
          ? asMarkdown(asSentence(resultWords(each.outcome)))
          : `nothing was done: ${asMarkdown(asSentence(refusalWords(each.outcome).why))}`
      }`,
  );
  return [['<details><summary>Earlier commands</summary>', '', ...items, '', '</details>'].join('\n')];
}

/** A sentence for the log. */
export const logWords = (outcome: CommandOutcome): string =>
  outcome.kind === 'done' ? resultWords(outcome) : capitalized(refusalWords(outcome).why);
