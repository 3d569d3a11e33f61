import type { ReadRepoRef } from '../../contract/control/repo-ref.ts';

/** The sentence against a `repo_ref` that cannot be taken, with the spelling that can. */
export const repoRefProblem = ({ problem, suggestion }: Extract<ReadRepoRef, { ok: false }>): string =>
  `source_revision_config.repo_ref: ${problem}.${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`}`;
