import type { InstallationRepository } from '../github/github-api.ts';
import type { DesiredReport } from '../reconcile/report.ts';
import type { Approval, KnownPreview, Preview, PreviewedPull, PullKey, WantedPreview, PreviewKey } from './preview.ts';

/** The job that looks at a pull request, and those that deploy and remove one of its previews. */
export const pullJob = 'preview-pull';
export const previewJobs = { deploy: 'preview-deploy', gone: 'preview-removal' } as const;

/**
 * How much longer is remembered that a preview expired, or was one too many (ms): for its commit it stays gone while the
 * pull request is open.
 */
export const keptGoneMs = 90 * 24 * 60 * 60_000;

/** The right to work on one version of a preview: what another run or a newer version makes of it is not overwritten. */
export interface PreviewRun extends PreviewKey {
  run: number;
  version: number;
}

/** A newer version is wanted, or another process goes on: nothing was written. */
export class RunSuperseded extends Error {
  constructor({ number, entry }: PreviewKey) {
    super(`another run works on the preview of ${entry} for pull request ${number} by now`);
    this.name = 'RunSuperseded';
  }
}

/** What a look at a pull request wants of one preview. */
export interface PreviewRequest {
  key: PreviewKey;
  name: string;
  wanted: WantedPreview;
  known?: Partial<KnownPreview>;
}

/** What is stored of a pull request with an event; what is absent stays. */
export interface PullNews {
  approval?: Approval;
  isUnreachable?: boolean;
}

/** The store of previews. Every method is one transaction, which also sends the jobs that it requires. */
export interface PreviewStore {
  /** Records that something of a pull request may have changed, and sends the job that looks at it. */
  notify(repository: InstallationRepository, number: number, news?: PullNews): Promise<void>;
  /** The same without an event: what is stored of a known pull request stays. */
  renotify(key: PullKey, news?: PullNews): Promise<void>;
  pull(key: PullKey): Promise<PreviewedPull | undefined>;
  /** The previews of a pull request, by their entries. */
  previews(key: PullKey): Promise<Preview[]>;
  preview(key: PreviewKey): Promise<Preview | undefined>;
  /** All previews of a repository's entry that are wanted, those that changed first first. */
  wantedOf(repositoryId: number, entry: string): Promise<Preview[]>;

  /**
   * Stores what a look at a pull request wants and what is to be reported of it, and sends the jobs of what is to be
   * deployed or removed.
   */
  want(requests: readonly PreviewRequest[], reports: readonly DesiredReport[]): Promise<void>;
  /** Ends a look: it took the events up to `seq` into account, and another one follows at `nextAt`. */
  looked(key: PullKey, seq: number, nextAt: number | undefined): Promise<void>;

  /** Begins a run on the version that is wanted; runs before it can't write any more. */
  startRun(key: PreviewKey): Promise<{ preview: Preview; run: PreviewRun } | undefined>;
  /** `journal`: a `PreviewJournal` as JSON. `isNews`: the pull request is looked at, which reports it. @throws RunSuperseded */
  save(
    run: PreviewRun,
    changes: { known?: Partial<KnownPreview>; journal?: string | null; isNews?: boolean },
  ): Promise<void>;
  /** Runs a preview again from this time on (ms since the epoch). */
  again(key: PreviewKey, at: number): Promise<void>;

  /** The repository was renamed or moved. */
  moved(repository: InstallationRepository): Promise<void>;
  /** Every pull request that has a preview which is wanted, or was removed after `since` (ms since the epoch). */
  openPulls(since: number): Promise<PreviewedPull[]>;
  /** Forgets what was removed before this time (ms since the epoch). @returns how many rows went */
  forgetPreviews(before: number): Promise<number>;
}
