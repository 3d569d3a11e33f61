import { type EndedCommand, answerWith, headOf, earlierSection, itemOf, lineOf } from '../../deploy/commands/answer.ts';
import {
  type CommandRecord,
  decodeRecords,
  encodeRecords,
  maxShown,
  withRecord,
} from '../../deploy/commands/records.ts';
import { newWord, partsOf, withAnswer } from '../../github/command-answer.ts';
import { repositoryParameters } from '../../github/client.ts';
import {
  authorOf,
  commentMark,
  commentsBy,
  commandsTopic,
  patchComment,
  type FoundComment,
} from '../../github/comment.ts';
import { previewTopic } from '../preview-reports.ts';
import type { CommandGitHub } from './github-reads.ts';

/** A pull request whose comment answers commands. */
export interface AnsweredPull extends CommandGitHub {
  number: number;
}

/** How the comment on a preview begins. */
const previewMark = commentMark(previewTopic('')).replace(/ -->$/, '');

/** What the comment keeps of the commands on a pull request, newest first. */
export async function keptRecords(pull: AnsweredPull): Promise<CommandRecord[]> {
  const found = await findComment(pull);
  return recordsIn(found);
}

const recordsIn = (comment: FoundComment | undefined): CommandRecord[] =>
  decodeRecords(partsOf(comment?.body ?? '').answer?.data ?? '');

/** The comment that answers commands; else that of a preview. */
async function findComment({ client, repository, number }: AnsweredPull): Promise<FoundComment | undefined> {
  let ofPreview: FoundComment | undefined;
  const at = { repository, pullRequest: number };
  for await (const comment of commentsBy(client, at, await authorOf(client))) {
    if (partsOf(comment.body).answer || comment.body.startsWith(commentMark(commandsTopic))) return comment;
    if (comment.body.startsWith(previewMark)) ofPreview ??= comment;
  }
  return ofPreview;
}

/** Writes that a command has begun, before anything is done. What another run wrote meanwhile stays. */
export function writeBegun(record: CommandRecord, runUrl: string | undefined, pull: AnsweredPull): Promise<void> {
  const run = runUrl === undefined ? 'this run' : `[this run](${runUrl})`;
  return write(
    record,
    (earlier) => [`### ⏳ ${headOf(record)}`, `It is carried out by ${run}.`, ...earlierSection(earlier)].join('\n\n'),
    pull,
  );
}

/** Answers a command, and keeps how it ended. */
export const writeAnswer = (
  record: CommandRecord,
  command: EndedCommand,
  isFirst: boolean,
  pull: AnsweredPull,
): Promise<void> => write(record, (earlier) => answerWith(command, earlier, isFirst), pull);

/** Before what is said to those who may give no commands. */
const asideMark = '<!-- aside -->';

/** Answers a person who may give no commands, below the last answer to those who may. Nothing is kept of it. */
export async function writeAside(command: EndedCommand, pull: AnsweredPull): Promise<void> {
  const found = await findComment(pull);
  const parts = partsOf(found?.body ?? commentMark(commandsTopic));
  const { data, markdown } = parts.answer ?? { data: encodeRecords([]), markdown: '' };
  const [before = ''] = markdown.split(asideMark, 1);
  const shown = [before.trimEnd(), `${asideMark}\n${lineOf(command)}`].filter(Boolean).join('\n\n');
  await put(found, withAnswer(parts, { data, markdown: shown }, newWord()), pull);
}

async function write(
  record: CommandRecord,
  markdownOf: (earlier: readonly string[]) => string,
  pull: AnsweredPull,
): Promise<void> {
  const found = await findComment(pull);
  const records = withRecord(recordsIn(found), record);
  const earlier = records
    .slice(0, maxShown)
    .filter(({ commentId, text }) => commentId !== record.commentId && text !== '')
    .map((each) => itemOf(each, each.end?.line ?? 'it has not ended.'));
  const answer = { data: encodeRecords(records), markdown: markdownOf(earlier) };
  await put(found, withAnswer(partsOf(found?.body ?? commentMark(commandsTopic)), answer, newWord()), pull);
}

async function put(found: FoundComment | undefined, body: string, pull: AnsweredPull): Promise<void> {
  const { client, repository, number } = pull;
  if (found) {
    await patchComment(client, pull, found.id, body);
    return;
  }
  await client.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
    ...repositoryParameters(repository),
    issue_number: number,
    body,
  });
}
