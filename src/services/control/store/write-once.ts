import type { Clock } from '../../../kit/clock.ts';
import type { KeyedWrite } from '../validation/idempotency-key.ts';
import { recordChange, type AuditedOperation } from './audit.ts';
import { inTransaction } from './statements.ts';
import type { ControlDatabase } from './tables.ts';
import { noteResult, takeKey, type EarlierWrite } from './write-keys.ts';

export interface CallerWrite<T> extends AuditedOperation {
  tenantId: string;
  keyed?: KeyedWrite | undefined;
  /** The response to a repetition, where that is less than the first response. */
  keep?: (answer: T) => unknown;
}

/** Records a change: by the names of ids, and the names of fields. */
export type Recorder = (subject: Readonly<Record<string, string>>, fields?: readonly string[]) => Promise<void>;

/** The outcome of a write: its response, or the earlier use of the same key. */
export type OnceEnd<T> =
  | { kind: 'done'; answer: T }
  | { kind: 'repeated'; answer: unknown }
  | Extract<EarlierWrite, { kind: 'key-of-another' | 'deleted-since' }>;

/**
 * Does a write, records it, and stores its response under its key: all in one transaction, which is rolled back where
 * `work` throws. A concurrent write with the same key waits, and gets the stored response.
 */
export async function writeOnce<T>(
  db: ControlDatabase,
  clock: Clock,
  { tenantId, by, operation, keyed, keep = (answer) => answer }: CallerWrite<T>,
  work: (trx: ControlDatabase, record: Recorder) => Promise<T>,
): Promise<OnceEnd<T>> {
  return inTransaction(db, async (trx): Promise<OnceEnd<T>> => {
    const now = new Date(clock.now());
    const earlier = keyed && (await takeKey(trx, now, tenantId, keyed));
    if (earlier?.kind === 'answered') return { kind: 'repeated', answer: JSON.parse(earlier.answer) };
    if (earlier?.kind === 'repeated') throw new Error(`${operation} was answered before as another kind of write`);
    if (earlier) return earlier;
    const answer = await work(trx, (subject, fields = []) =>
      recordChange(trx, now, { tenantId, by, operation, subject, fields }),
    );
    if (keyed) await noteResult(trx, tenantId, keyed, { answer: JSON.stringify(keep(answer) ?? null) });
    return { kind: 'done', answer };
  });
}
