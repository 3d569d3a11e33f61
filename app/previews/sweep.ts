import { jobIdOf } from '../../src/kit/postgres/queue-jobs.ts';
import type { Queue } from '../../src/kit/postgres/queue.ts';
import { catchTransientError } from '../recovery/recover-heads.ts';
import { allEntriesOf } from '../../src/contract/control/pages.ts';
import { listPreviews } from '../../src/deploy/machine/previews.ts';
import { isNamedLikePreview } from '../../src/deploy/rules/preview.ts';
import type { InstallationRepository } from '../github/github-api.ts';
import { anyEntry, beyondMax, ownKeyOf } from './decide-previews.ts';
import { outcomeOf, type Preview } from './preview.ts';
import type { PreviewContext } from './preview-context.ts';

const sweepJob = 'preview-sweep';

/** The interval between two sweeps (ms). */
const sweepMs = 5 * 60_000;

/**
 * Sweeps at the start and every 5 minutes. If several processes share the database, one of them does each sweep: all
 * send the same job, and the queue ignores a job whose id it knows.
 */
export async function startSweeping(
  queue: Pick<Queue, 'define' | 'send' | 'work'>,
  context: PreviewContext,
): Promise<void> {
  const { clock, log } = context;
  const send = async (slot: number): Promise<void> => {
    const startAfter = Math.max(0, slot * sweepMs - clock.now()) / 1_000;
    await queue.send(sweepJob, { slot }, { id: jobIdOf(`${sweepJob} ${slot}`), startAfter });
  };
  await queue.define(sweepJob, { retryLimit: 10, retryDelay: 30, retryDelayMax: 300 });
  await queue.work<{ slot: number }>(sweepJob, { pollSeconds: 2 }, async ({ data: { slot } }) => {
    try {
      log.info({ ...(await sweepPreviews(context)) }, 'Previews were swept');
    } finally {
      await send(Math.max(Math.floor(clock.now() / sweepMs), slot) + 1);
    }
  });
  await send(Math.floor(clock.now() / sweepMs));
}

/** How long what was removed is looked at again (ms): a creation without a response may take effect late. */
const lateCreationMs = 30 * 60_000;

/** What a sweep did. */
export interface SweepResult {
  /** The pull requests that are looked at again. */
  looked: number;
  /** The previews without a pull request that are removed. */
  strays: number;
  forgotten: number;
}

/**
 * Has every pull request with previews looked at, whether or not an event came, and removes previews of repositories
 * that the App reaches which no open pull request has. What does not carry the mark of such a repository is left alone.
 */
export async function sweepPreviews(context: PreviewContext): Promise<SweepResult> {
  const { previews, clock, log } = context;
  const open = await previews.openPulls(clock.now() - lateCreationMs);
  const stored: Preview[] = [];
  for (const pull of open) {
    await previews.renotify(pull);
    const ofPull = await previews.previews(pull);
    stored.push(...ofPull);
    for (const preview of ofPull) {
      if (isDue(preview, clock.now())) await previews.again(preview, clock.now());
    }
  }
  for (const { repositoryId, entry } of entriesOf(stored)) {
    const wanted = await previews.wantedOf(repositoryId, entry);
    await previews.want(beyondMax(wanted, clock.now()), []);
  }
  let strays = 0;
  const failure = await catchTransientError(async () => {
    strays = await removeStrays(new Set(stored.map(({ name }) => name)), context);
  });
  if (failure !== undefined) log.warn(`Previews without a pull request could not be looked for: ${failure.message}`);
  const forgotten = await previews.forgetPreviews(clock.now() - lateCreationMs);
  return { looked: open.length, strays, forgotten };
}

/** The entries of these previews, each once. */
const entriesOf = (previews: readonly Preview[]): Pick<Preview, 'repositoryId' | 'entry'>[] => [
  ...new Map(previews.map((each) => [`${each.repositoryId}/${each.entry}`, each])).values(),
];

/** How long a run may take (ms) before its job counts as lost. */
const runMs = 45 * 60_000;

/** What a stray's pull request gets later is its own: a stray is removed once, and another one is found anew. */
const isDue = (preview: Preview, now: number): boolean =>
  preview.wanted.kind === 'gone' ? preview.entry !== anyEntry || preview.known.goneAt == null : isStuck(preview, now);

const isStuck = ({ known, version }: Preview, now: number): boolean =>
  outcomeOf({ known, version }) === undefined && now >= Math.max(known.begun?.at ?? 0, known.changedAt ?? 0) + runMs;

/** Removes previews of pull requests that the store knows nothing of, where those are closed. */
async function removeStrays(storedNames: ReadonlySet<string>, context: PreviewContext): Promise<number> {
  const { previews, control, log, installed } = context;
  // A list in which every such name is that of a stored preview needs no more requests.
  const listed = await allEntriesOf((page) => control.listDeployments({ name_contains: '-pr-', ...page }));
  const unknown = listed.filter(({ name }) => !storedNames.has(name));
  if (unknown.length === 0) return 0;
  const further: Parameters<typeof listPreviews>[0] = {
    listDeployments: async ({ limit = 20, offset = 0 }) => ({
      resources: unknown.slice(offset, offset + limit),
      offset,
    }),
    getDeployment: (id, options) => control.getDeployment(id, options),
  };
  let removed = 0;
  for (const repository of (await installed()).values()) {
    const { repositoryId } = repository;
    const hostedId = context.hostedIdOf(repositoryId);
    if (!unknown.some(({ name }) => isNamedLikePreview(name, hostedId))) continue;
    const numbers = new Set<number>();
    for (const { deployment, number } of await listPreviews(further, hostedId, () => ({}))) {
      const stored = await previews.previews({ repositoryId, number });
      const isStored = stored.some((each) => each.entry !== anyEntry && ownKeyOf(deployment, each, hostedId));
      if (!isStored) numbers.add(number);
    }
    for (const number of numbers) {
      // One repository that can't be read is no reason to leave the others' alone.
      const failure = await catchTransientError(async () => {
        if (await removeStray(repository, number, context)) removed += 1;
      });
      if (failure !== undefined) log.warn(`Previews of #${number} were not looked at: ${failure.message}`);
    }
  }
  return removed;
}

async function removeStray(
  repository: InstallationRepository,
  number: number,
  context: PreviewContext,
): Promise<boolean> {
  const { previews, githubApi, clock, installed } = context;
  const state = await githubApi.pullRequest({ repository, number });
  // A workflow may have made it: an open pull request keeps it.
  if (state?.isOpen) return false;
  // GitHub says the same of a pull request that is not there and of a repository that the App no longer reaches.
  if (!state && !(await installed(clock.now())).has(repository.repositoryId)) return false;
  await previews.notify(repository, number, { isUnreachable: false });
  const key = { repositoryId: repository.repositoryId, number, entry: anyEntry };
  const wanted = { kind: 'gone', code: 'closed', commit: state?.headSha ?? '', at: clock.now() } as const;
  await previews.want([{ key, name: '', wanted, known: { goneAt: null, failures: 0 } }], []);
  return true;
}
