import type { InstallationRepository } from '../../../app/github/github-api.ts';
import type { DesiredReport } from '../../../app/reconcile/report.ts';
import type { Preview, PreviewedPull, PreviewJournal, PreviewKey, PullKey } from '../../../app/previews/preview.ts';
import {
  keptGoneMs,
  previewJobs,
  pullJob,
  RunSuperseded,
  type PreviewRequest,
  type PreviewRun,
  type PreviewStore,
  type PullNews,
} from '../../../app/previews/preview-store.ts';

interface MemoryOptions {
  now: () => number;
  send: (name: string, key: PullKey | PreviewKey, at: number) => void;
  putReports?: (reports: readonly DesiredReport[]) => void;
}

const idOf = ({ repositoryId, number }: PullKey): string => `${repositoryId}/${number}`;
const pullKeyOf = ({ repositoryId, number }: PullKey): PullKey => ({ repositoryId, number });
const keyOf = ({ repositoryId, number, entry }: PreviewKey): PreviewKey => ({ repositoryId, number, entry });

/** Previews in memory, for tests: each method does all that it does at once. */
export class MemoryPreviews implements PreviewStore {
  readonly #options: MemoryOptions;
  readonly #pulls = new Map<string, PreviewedPull>();
  readonly #previews = new Map<string, { preview: Preview; run: number }>();

  constructor(options: MemoryOptions) {
    this.#options = options;
  }

  get all(): Preview[] {
    return [...this.#previews.values()].map(({ preview }) => structuredClone(preview));
  }

  async notify(repository: InstallationRepository, number: number, news: PullNews = {}): Promise<void> {
    const key = { repositoryId: repository.repositoryId, number };
    const { notifiedSeq = 0, ...before } = this.#pulls.get(idOf(key)) ?? { isUnreachable: false, processedSeq: 0 };
    this.#pulls.set(idOf(key), { ...before, ...key, ...news, repository, notifiedSeq: notifiedSeq + 1 });
    this.#options.send(pullJob, key, this.#options.now());
  }

  async renotify(key: PullKey, news: PullNews = {}): Promise<void> {
    const pull = this.#pulls.get(idOf(key));
    if (pull) this.#pulls.set(idOf(key), { ...pull, ...news, notifiedSeq: pull.notifiedSeq + 1 });
    this.#options.send(pullJob, pullKeyOf(key), this.#options.now());
  }

  async pull(key: PullKey): Promise<PreviewedPull | undefined> {
    return structuredClone(this.#pulls.get(idOf(key)));
  }

  async previews(key: PullKey): Promise<Preview[]> {
    return this.all.filter((each) => idOf(each) === idOf(key)).toSorted((a, b) => (a.entry < b.entry ? -1 : 1));
  }

  async preview(key: PreviewKey): Promise<Preview | undefined> {
    return (await this.previews(key)).find(({ entry }) => entry === key.entry);
  }

  async wantedOf(repositoryId: number, entry: string): Promise<Preview[]> {
    return this.all
      .filter((each) => each.repositoryId === repositoryId && each.entry === entry && each.wanted.kind === 'deploy')
      .toSorted((a, b) => (a.known.changedAt ?? 0) - (b.known.changedAt ?? 0) || a.number - b.number);
  }

  async want(requests: readonly PreviewRequest[], reports: readonly DesiredReport[]): Promise<void> {
    for (const { key, name, wanted, known = {} } of requests) {
      const id = `${idOf(key)}/${key.entry}`;
      const { preview: before, run } = this.#previews.get(id) ?? { preview: undefined, run: 0 };
      const preview = {
        ...keyOf(key),
        name,
        wanted,
        version: (before?.version ?? 0) + 1,
        known: { ...before?.known, ...known },
      };
      this.#previews.set(id, { preview: { ...before, ...structuredClone(preview) }, run });
      this.#options.send(previewJobs[wanted.kind], keyOf(key), this.#options.now());
    }
    this.#options.putReports?.(reports);
  }

  async looked(key: PullKey, seq: number, nextAt: number | undefined): Promise<void> {
    const before = this.#pulls.get(idOf(key));
    if (!before) return;
    const { nextAt: _, ...pull } = before;
    const processedSeq = Math.max(pull.processedSeq, seq);
    this.#pulls.set(idOf(key), { ...pull, processedSeq, ...(nextAt === undefined ? {} : { nextAt }) });
    if (nextAt !== undefined) this.#options.send(pullJob, pullKeyOf(key), nextAt);
  }

  async startRun(key: PreviewKey): Promise<{ preview: Preview; run: PreviewRun } | undefined> {
    const stored = this.#previews.get(`${idOf(key)}/${key.entry}`);
    if (!stored) return undefined;
    stored.run += 1;
    const preview = structuredClone(stored.preview);
    return { preview, run: { ...keyOf(key), run: stored.run, version: preview.version } };
  }

  async save(run: PreviewRun, { known, journal, isNews = false }: Parameters<PreviewStore['save']>[1]): Promise<void> {
    const stored = this.#previews.get(`${idOf(run)}/${run.entry}`);
    if (!stored || stored.run !== run.run || stored.preview.version !== run.version) throw new RunSuperseded(run);
    const { journal: former, ...preview } = stored.preview;
    const kept: PreviewJournal | undefined =
      journal === undefined ? former : journal === null ? undefined : JSON.parse(journal);
    stored.preview = {
      ...preview,
      known: { ...preview.known, ...structuredClone(known) },
      ...(kept && { journal: kept }),
    };
    const pull = this.#pulls.get(idOf(run));
    if (!isNews || !pull) return;
    this.#pulls.set(idOf(run), { ...pull, notifiedSeq: pull.notifiedSeq + 1 });
    this.#options.send(pullJob, pullKeyOf(run), this.#options.now());
  }

  async again(key: PreviewKey, at: number): Promise<void> {
    const preview = await this.preview(key);
    if (preview) this.#options.send(previewJobs[preview.wanted.kind], keyOf(key), at);
  }

  async moved(repository: InstallationRepository): Promise<void> {
    for (const [id, pull] of this.#pulls) {
      if (pull.repositoryId === repository.repositoryId) this.#pulls.set(id, { ...pull, repository });
    }
  }

  async openPulls(since: number): Promise<PreviewedPull[]> {
    const isOpen = (pull: PreviewedPull) =>
      this.all.some((each) => idOf(each) === idOf(pull) && (each.known.goneAt ?? since) >= since);
    return structuredClone([...this.#pulls.values()].filter(isOpen).toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1)));
  }

  async forgetPreviews(before: number): Promise<number> {
    let count = 0;
    for (const [id, { preview }] of this.#previews) {
      const { wanted, known } = preview;
      const isKept = wanted.kind === 'gone' && (wanted.code === 'expired' || wanted.code === 'too-many');
      const isOld = wanted.kind === 'gone' && (known.goneAt ?? Infinity) < before - (isKept ? keptGoneMs : 0);
      if (isOld && this.#previews.delete(id)) count += 1;
    }
    for (const [id, pull] of this.#pulls) {
      const isIdle = pull.processedSeq >= pull.notifiedSeq && (pull.approval?.at ?? 0) < before;
      const isKept = this.all.some((each) => idOf(each) === id);
      if (isIdle && !isKept && this.#pulls.delete(id)) count += 1;
    }
    return count;
  }
}
