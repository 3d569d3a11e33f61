import { sql } from 'kysely';
import { storableJson } from '../inbox/storable-json.ts';
import type { RepositoryAt } from '../context.ts';
import type { WorkTransaction } from './tables.ts';

/** Intents that have not ended and all reports of a repository take its new place. */
export async function moveRepository(tx: WorkTransaction, repository: RepositoryAt): Promise<void> {
  const [id, at] = [String(repository.repositoryId), storableJson(repository)];
  await tx
    .updateTable('intents')
    .set({ repository: at })
    .where('repository_id', '=', id)
    .where('state', '<>', 'ended')
    .execute();
  await tx.updateTable('reports').set({ repository: at }).where('repository_id', '=', id).execute();
}

/** Removes what ended or was reported before a time (ms since the epoch), as `WorkStore.forget` says. */
export async function forgetOld(tx: WorkTransaction, before: number, keep: number): Promise<number> {
  const numbered = tx
    .selectFrom('intents')
    .select(['id', 'ended_at', sql<string>`row_number() over (partition by deployment_id order by seq desc)`.as('nth')])
    .as('numbered');
  const old = tx
    .selectFrom(numbered)
    .select('numbered.id')
    .where('numbered.ended_at', '<', before)
    .where('numbered.nth', '>', String(keep));
  const intents = await tx.deleteFrom('intents').where('id', 'in', old).executeTakeFirst();
  const reports = await tx
    .deleteFrom('reports')
    .whereRef('reported_version', '>=', 'version')
    .where('reported_at', '<', before)
    .where((of) =>
      of.not(
        of.exists(
          of
            .selectFrom('intents')
            .select('intents.id')
            .whereRef('intents.repository_id', '=', 'reports.repository_id')
            .whereRef('intents.commit', '=', 'reports.head_sha'),
        ),
      ),
    )
    .executeTakeFirst();
  return Number(intents.numDeletedRows) + Number(reports.numDeletedRows);
}
