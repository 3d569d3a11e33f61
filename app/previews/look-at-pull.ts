import type { InstallationRepository } from '../github/github-api.ts';
import { GitHubApiError, InstallationPaused } from '../github/github-api.ts';
import { decidePreviews, evicted, removalOf } from './decide-previews.ts';
import type { PreviewedPull, PullKey } from './preview.ts';
import type { PreviewContext } from './preview-context.ts';
import type { PreviewRequest } from './preview-store.ts';
import { reportsOf, type Reported } from './preview-reports.ts';
import { mistakesInPreviews } from '../targets/file-entries.ts';

/** How long until a look is tried again that another process has begun (ms). */
const busyMs = 3_000;
/** How long until it is tried again when GitHub failed, when it refused, and when the file could not be read (ms). */
const failedMs = 15_000;
const refusedMs = 5 * 60_000;
const unreadMs = 10 * 60_000;

/**
 * Looks at a pull request as GitHub has it now, whatever its events said and in whatever order they came, and stores
 * what is wanted of its previews: that is carried out by jobs of their own. Everything that is said of previews on
 * GitHub is said here.
 */
export async function lookAtPull(key: PullKey, context: PreviewContext): Promise<void> {
  const { locks, previews, clock } = context;
  const looked = await locks.exclusively(`pull ${key.repositoryId}/${key.number}`, () => lookOnce(key, context));
  if (looked) return;
  const pull = await previews.pull(key);
  if (pull && isDue(pull, clock.now())) await previews.looked(key, pull.processedSeq, clock.now() + busyMs);
}

const isDue = ({ notifiedSeq, processedSeq, nextAt = Infinity }: PreviewedPull, now: number): boolean =>
  notifiedSeq > processedSeq || nextAt <= now;

async function lookOnce(key: PullKey, context: PreviewContext): Promise<void> {
  const { previews, clock, log } = context;
  const pull = await previews.pull(key);
  if (!pull || !isDue(pull, clock.now())) return;
  try {
    const isUnread = (await look(pull, context)) === 'unread';
    await previews.looked(key, pull.notifiedSeq, isUnread ? clock.now() + unreadMs : undefined);
  } catch (error) {
    if (!(error instanceof GitHubApiError) && !(error instanceof InstallationPaused)) throw error;
    const isRefusal = error instanceof GitHubApiError && error.status !== undefined && error.status < 500;
    const until = error instanceof InstallationPaused ? error.until : clock.now() + (isRefusal ? refusedMs : failedMs);
    log.warn({ pull: key.number }, `The previews of a pull request wait for GitHub: ${error.message}`);
    await expire(pull, context);
    await previews.looked(key, pull.processedSeq, Math.max(until, clock.now() + 1_000));
  }
}

/**
 * A pull request as GitHub has it now, under the present name of its repository; `gone` where the App no longer reaches
 * that. GitHub says of a repository that was renamed, transferred or taken away what it says of a number that never was.
 */
async function present(pull: PreviewedPull, { githubApi, previews, installed, clock }: PreviewContext) {
  if (pull.isUnreachable) return { pull, state: undefined };
  let otherRepository: GitHubApiError | undefined;
  const state = await githubApi.pullRequest(pull).catch((error: unknown) => {
    if (!(error instanceof GitHubApiError) || error.status !== 404) throw error;
    otherRepository = error;
  });
  if (state) return { pull, state };
  const repository = (await installed(clock.now())).get(pull.repositoryId);
  if (!repository) return { pull: { ...pull, isUnreachable: true }, state: undefined };
  if (isSamePlace(repository, pull.repository)) {
    if (otherRepository) throw otherRepository;
    return { pull, state: undefined };
  }
  const moved = { ...pull, repository };
  await previews.moved(repository);
  return { pull: moved, state: await githubApi.pullRequest(moved) };
}

const isSamePlace = (one: InstallationRepository, other: InstallationRepository): boolean =>
  one.owner === other.owner && one.name === other.name && one.installationId === other.installationId;

async function look(known: PreviewedPull, context: PreviewContext): Promise<'unread' | undefined> {
  const { previews, deployFile, clock } = context;
  const stored = await previews.previews(known);
  const { pull, state } = await present(known, context);
  // A stranger opens pull requests as often as they like: the file is read where it may matter.
  const isOver = stored.length === 0 && !state?.isOpen;
  const file = state?.isOpen ? await deployFile(pull.repository) : undefined;
  if (isOver) return undefined;
  const decided = decidePreviews({
    pull,
    hostedId: context.hostedIdOf(pull.repositoryId),
    state,
    entries: file && file.unread === undefined && file.notes.length === 0 ? file.entries : undefined,
    stored,
    secretOf: (variable) => context.secretOf(pull.repository, variable),
    now: clock.now(),
  });
  await store({ pull, state, decided, stored, mistakes: file ? mistakesInPreviews(file) : [] }, context);
  return file?.unread === undefined ? undefined : 'unread';
}

async function store(about: Omit<Reported, 'now'>, context: PreviewContext): Promise<void> {
  const { pull, decided } = about;
  const requests = decided.flatMap(({ request }) => request ?? []);
  const evictions: PreviewRequest[] = [];
  for (const request of requests) evictions.push(...(await evictionsFor(request, context)));
  const reports = pull.isUnreachable ? [] : reportsOf({ ...about, now: context.clock.now() });
  await context.previews.want([...requests, ...evictions], reports);
}

/** The oldest previews of an entry, where there would be too many with a new one. */
async function evictionsFor(request: PreviewRequest, { previews, clock }: PreviewContext): Promise<PreviewRequest[]> {
  const { repositoryId, entry } = request.key;
  return request.wanted.kind === 'deploy'
    ? evicted(request, await previews.wantedOf(repositoryId, entry), clock.now())
    : [];
}

/** Removes what has expired, also where GitHub does not respond. */
async function expire(pull: PreviewedPull, { previews, clock }: PreviewContext): Promise<void> {
  const now = clock.now();
  const over = (await previews.previews(pull)).filter(
    ({ wanted, known }) =>
      wanted.kind === 'deploy' && known.changedAt !== undefined && now >= known.changedAt + wanted.terms.expiresAfterMs,
  );
  await previews.want(
    over.map((preview) => removalOf(preview, 'expired', now)),
    [],
  );
}
