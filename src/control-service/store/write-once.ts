import type { Clock } from '../../clock.ts';
import type { KeyedWrite } from '../rules/idempotency-key.ts';
import { recordChange } from './audit.ts';
import type { Doing } from './audit.ts';
import { inTransaction } from './in-transaction.ts';
import type { ControlDatabase } from './tables.ts';
import { noteAnswer, takeKey } from './write-keys.ts';
import type { EarlierWrite } from './write-keys.ts';

/** A write that a caller asks for. */
export interface CallerWrite<T> extends Doing {
  tenantId: string;
  /** The key that it was sent with, if any. */
  keyed: KeyedWrite | undefined;
  /** What a repetition is told, where that is less than the first answer. */
  keep?: (answer: T) => unknown;
}

/** Writes down what was changed: by the names of ids, and the names of fields. */
export type Recorder = (subject: Readonly<Record<string, string>>, fields?: readonly string[]) => Promise<void>;

/** What a write ends in: its answer, or what the same key was sent with before. */
export type OnceEnd<T> =
  | { kind: 'done'; answer: T }
  | { kind: 'repeated'; answer: unknown }
  | Extract<EarlierWrite, { kind: 'key-of-another' | 'deleted-since' }>;

/**
 * Does a write, writes it down, and keeps its answer under its key: all in one transaction, or, where `work` throws,
 * nothing of it. Whoever sends the same key meanwhile waits, and is told the answer that was kept.
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
    if (keyed) await noteAnswer(trx, tenantId, keyed, JSON.stringify(keep(answer) ?? null));
    return { kind: 'done', answer };
  });
}
