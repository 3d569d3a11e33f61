import type { ColumnType, Generated } from 'kysely';
import type { VerdictReport } from '../../../contract/control/verdict.ts';
import type { Fixed } from '../store/tables.ts';

/** Verdicts on revisions, as their testers reported them. */
export interface VerdictsTable {
  id: Fixed<string>;
  /** Orders the verdicts. */
  sequence: Generated<string>;
  deployment_id: Fixed<string>;
  revision_id: Fixed<string>;
  /** `sequence` of the revision. */
  revision_sequence: Fixed<string>;
  kind: Fixed<VerdictReport['kind']>;
  reporter: Fixed<VerdictReport['reporter']>;
  details_url: Fixed<string | null>;
  tests: ColumnType<VerdictReport['tests'], string, never>;
  created_at: Fixed<Date>;
}
