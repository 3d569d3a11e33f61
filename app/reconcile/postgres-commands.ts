import { sql } from 'kysely';
import { storableJson } from '../../src/kit/json-text.ts';
import type { CommandAction, CommandKey, StoredCommand, TakenCommand } from '../commands/stored-command.ts';
import type { CommandOutcome } from '../../src/deploy/commands/outcomes.ts';
import { commandOf, type WorkDatabase, type WorkTransaction } from './tables.ts';

/** Records a command, unless its comment is known. */
export async function takeCommand(db: WorkDatabase, command: TakenCommand): Promise<StoredCommand> {
  const { repositoryId, commentId, number, takenAt, by, text } = command;
  await db
    .insertInto('commands')
    .values({
      repository_id: repositoryId,
      comment_id: commentId,
      number,
      taken_at: takenAt,
      given: storableJson({ by, text }),
      action: null,
      outcome: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return commandOf(await byKey(db, command).selectAll().executeTakeFirstOrThrow());
}

/** Stores an action unless there is one, and returns the stored one. */
export async function decideCommand(db: WorkDatabase, key: CommandKey, action: CommandAction): Promise<CommandAction> {
  await setIfAbsent(db, key, 'action', storableJson(action));
  const { action: stored } = await byKey(db, key).select('action').executeTakeFirstOrThrow();
  return stored ?? action;
}

/** Stores an outcome unless there is one, and returns the stored one. */
export async function endCommand(db: WorkDatabase, key: CommandKey, outcome: CommandOutcome): Promise<CommandOutcome> {
  await setIfAbsent(db, key, 'outcome', storableJson(outcome));
  const { outcome: stored } = await byKey(db, key).select('outcome').executeTakeFirstOrThrow();
  return stored ?? outcome;
}

export async function lastCommands(
  db: WorkDatabase,
  repositoryId: number,
  number: number,
  limit: number,
): Promise<StoredCommand[]> {
  const code: CommandOutcome['code'] = 'no-write';
  const rows = await db
    .selectFrom('commands')
    .selectAll()
    .where('repository_id', '=', String(repositoryId))
    .where('number', '=', number)
    .where(sql<boolean>`outcome ->> 'code' is distinct from ${code} and outcome is not null`)
    .orderBy('comment_id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(commandOf);
}

/** Removes the commands that were taken before a time. @returns how many. */
export async function forgetCommands(tx: WorkTransaction, before: number): Promise<number> {
  const { numDeletedRows } = await tx.deleteFrom('commands').where('taken_at', '<', before).executeTakeFirst();
  return Number(numDeletedRows);
}

const byKey = (db: WorkDatabase, { repositoryId, commentId }: CommandKey) =>
  db
    .selectFrom('commands')
    .where('repository_id', '=', String(repositoryId))
    .where('comment_id', '=', String(commentId));

async function setIfAbsent(
  db: WorkDatabase,
  { repositoryId, commentId }: CommandKey,
  column: 'action' | 'outcome',
  json: string,
): Promise<void> {
  await db
    .updateTable('commands')
    .set({ [column]: json })
    .where('repository_id', '=', String(repositoryId))
    .where('comment_id', '=', String(commentId))
    .where(sql.ref(column), 'is', null)
    .execute();
}
