import { leftOut, truncateSections } from '../deploy/words/summary.ts';

// A comment may answer commands below what it says else. Two hidden lines tell the parts apart: one at its head, where
// no text of others stands, with what is kept of the commands, and one before the answer. Both have a word that nobody
// can know before, so that no text in between passes for the second.

/** The most that a comment takes (bytes): 65,536 characters on GitHub, less some for the marks. */
const limitBytes = 65_000;

/** The most that the answer takes of it (bytes). */
const maxAnswerBytes = 20_000;

/** What a comment has for those who give commands. */
export interface CommandAnswer {
  /** What is kept of the commands: one word in Base64. */
  data: string;
  markdown: string;
}

const headMark = /^<!-- landfall-commands: ([0-9a-f]{32}) ([A-Za-z0-9+/=]*) -->$/;
const answerMark = (word: string): string => `<!-- landfall-answer: ${word} -->`;

/** The parts of a comment: the marks at its head, what it says, and its answer to commands. */
export function partsOf(body: string): { marks: string[]; main: string; answer?: CommandAnswer } {
  const lines = body.replaceAll('\r\n', '\n').split('\n');
  const end = lines.findIndex((line) => !/^<!-- landfall(?:-step|-commands)?: .* -->$/.test(line));
  const head = lines.slice(0, Math.max(0, end));
  const found = head.map((line) => headMark.exec(line)).find((each) => each !== null);
  const marks = head.filter((line) => !headMark.test(line));
  const rest = lines.slice(head.length);
  const [, word = '', data = ''] = found ?? [];
  const at = found ? rest.indexOf(answerMark(word)) : -1;
  if (at < 0) return { marks, main: rest.join('\n') };
  const markdown = rest.slice(at + 1).join('\n');
  return { marks, main: rest.slice(0, at).join('\n').trimEnd(), answer: { data, markdown } };
}

/** A comment of its parts, what it says cut where both do not fit. @param word a new one of 32 hexadecimal digits */
export function withAnswer(
  { marks, main }: { marks: readonly string[]; main: string },
  { data, markdown }: CommandAnswer,
  word: string,
): string {
  const shown = truncateSections([markdown], maxAnswerBytes, leftOut);
  const head = [...marks, `<!-- landfall-commands: ${word} ${data} -->`].join('\n');
  const tail = [answerMark(word), shown].join('\n');
  const left = limitBytes - Buffer.byteLength(head) - Buffer.byteLength(tail) - 4;
  const said = main.trim() === '' ? [] : [truncateSections([main.trimEnd()], left, leftOut), ''];
  return [head, ...said, tail].join('\n');
}

/** A new text of a comment, with the answer that the former one has. */
export function withAnswerOf(before: string, body: string): string {
  const { answer } = partsOf(before);
  return answer ? withAnswer(partsOf(body), answer, newWord()) : body;
}

/** A word that nobody knew before. */
export const newWord = (): string => crypto.randomUUID().replaceAll('-', '');
