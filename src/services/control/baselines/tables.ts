import type { ColumnType, Generated } from 'kysely';
import type { BaselineRequest } from '../../../contract/control/baseline.ts';
import type { Fixed } from '../store/tables.ts';

/** What smoke tests measured of revisions, one row for each test of a revision. */
export interface BaselinesTable {
  revision_id: Fixed<string>;
  /** The SHA-256 of what the test sends and expects. */
  test_hash: Fixed<string>;
  deployment_id: Fixed<string>;
  /** Orders the rows by their last report. */
  sequence: Generated<string>;
  answers: ColumnType<BaselineRequest['answers'], string, string>;
  taken_at: Date;
}
