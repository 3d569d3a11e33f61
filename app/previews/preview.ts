import type { DesiredDeployment } from '../../src/deploy/file/desired.ts';
import type { PreviewTerms } from '../../src/deploy/file/preview-fields.ts';
import type { JournalEntry } from '../../src/deploy/machine/journal.ts';
import type { OutcomeKind } from '../../src/contract/outcome-kinds.ts';
import type { PreviewKey as Key, RemovalCode } from '../../src/deploy/rules/preview.ts';
import type { PreviewPull } from '../../src/deploy/rules/preview-source.ts';
import type { InstallationRepository } from '../github/github-api.ts';

/** A pull request by its number alone: it keeps that when its branches are renamed or its repository moves. */
export interface PullKey {
  repositoryId: number;
  number: number;
}

/** What a person with write access requested: a preview of exactly this commit. */
export interface Approval {
  commit: string;
  /** Their login. */
  by: string;
  /** ms since the epoch */
  at: number;
}

/** One preview of a pull request: that of an entry of the deploy file. */
export type PreviewKey = Key;

/** A pull request that has previews or may get some. */
export interface PreviewedPull extends PullKey {
  repository: InstallationRepository;
  approval?: Approval;
  /** The App can't reach the repository any more. */
  isUnreachable: boolean;
  /** Grows with each event. */
  notifiedSeq: number;
  /** The events that the last look took into account. */
  processedSeq: number;
  /** When to look again without an event (ms since the epoch). */
  nextAt?: number;
}

/** What is wanted of a preview. It is stored before anything is sent. */
export type WantedPreview =
  | {
      kind: 'deploy';
      commit: string;
      pull: PreviewPull;
      /** The entry of the deploy file as it was then, without the values of secrets. */
      deployment: DesiredDeployment;
      terms: PreviewTerms;
      /** When a person requested it last (ms since the epoch): a later request proves it again. */
      requestedAt?: number;
    }
  /** `commit` is the head that had it, `at` when its removal was decided (ms since the epoch). */
  | { kind: 'gone'; code: GoneCode; commit: string; at: number };

/** Why a preview is removed. */
export type GoneCode = RemovalCode | 'unreachable';

/** How a run of a preview ended, as it is shown. */
export interface PreviewOutcome {
  /** The version of `wanted` that it was of, and its commit. */
  version: number;
  commit: string;
  kind: OutcomeKind;
  passes: boolean;
  /** One sentence, without Markdown. */
  reason: string;
  /** Sanitized Markdown. */
  summary: string;
  /** Its receipt, as a section of the check. */
  receipt?: string;
  /** Where it is opened: the page of its revision in the console, or its agent. */
  address?: string;
  /** ms since the epoch */
  at: number;
}

/** What is known of a preview. Null clears. */
export interface KnownPreview {
  deploymentId?: string | null;
  /** When its commit was wanted (ms since the epoch): it expires so long after. */
  changedAt?: number;
  /** When a run of this version began. */
  begun?: { version: number; at: number };
  outcome?: PreviewOutcome;
  /** When it was observed that nothing of it is there (ms since the epoch). */
  goneAt?: number | null;
  /** How often in a row the service failed. */
  failures?: number;
}

/** How far the deploy of a version is. */
export interface PreviewJournal {
  version: number;
  kept: JournalEntry;
}

/** A preview as it is stored. */
export interface Preview extends PreviewKey {
  /** The name of its deployment. */
  name: string;
  wanted: WantedPreview;
  /** Grows whenever `wanted` changes. */
  version: number;
  known: KnownPreview;
  journal?: PreviewJournal;
}

/** How a run of the wanted version ended; undefined before. */
export const outcomeOf = ({
  known: { outcome },
  version,
}: Pick<Preview, 'known' | 'version'>): PreviewOutcome | undefined =>
  outcome?.version === version ? outcome : undefined;
