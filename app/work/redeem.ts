import { sameCommit } from '../../src/decide/commit.ts';
import { HubError } from '../github/hub.ts';
import { containsCommit } from './contains.ts';
import type { Intent } from './intent.ts';
import { mayPass } from './trouble.ts';
import type { Work } from './work.ts';

/** For how long GitHub is asked again before a check stays as it is (ms). */
const patienceMs = 10 * 60_000;

/** How many commits GitHub is asked about at one conclusion: of those that were forced away some wait for ever. */
const mostAsked = 10;

/** Superseded commits as they stand now that `live` is live and proven. */
export interface Redeemed {
  intents: readonly Intent[];
  /** Ids of those whose check is another intent's to speak in by now. */
  silent: readonly string[];
}

/**
 * The superseded commits of the deployment that `live` contains. Whether it does is known where what came instead of
 * them is known to; else GitHub is asked.
 *
 * @throws HubError, InstallationPaused where it is worth asking again later
 */
export async function redeemed(work: Work, done: Intent, live: string): Promise<Redeemed> {
  const { store } = work.world;
  const waiting = await store.unredeemed(done.deploymentId);
  const held = new Set([live]);
  const intents: Intent[] = [];
  const silent: string[] = [];
  let asks = 0;
  // The newest first: what a superseded one contains is contained in what contains it.
  for (const intent of waiting.toReversed()) {
    if (!intent.end) continue;
    const by = intent.end.by;
    const isKnown = held.has(intent.commit) || (by?.contains === true && held.has(by.commit));
    if (!isKnown) asks += 1;
    const contains = isKnown || (asks <= mostAsked && (await asked(work, done, intent, live)));
    if (!contains) continue;
    held.add(intent.commit);
    intents.push({ ...intent, end: { ...intent.end, liveIn: live } });
    if (!(await speaks(work, intent, done))) silent.push(intent.id);
  }
  return { intents, silent };
}

async function asked(
  work: Work,
  done: Intent,
  { repository, commit }: Intent,
  live: string,
): Promise<boolean | undefined> {
  const hasPatience = work.world.clock.now() - done.updatedAt < patienceMs;
  try {
    return await containsCommit(work, repository, commit, live);
  } catch (error) {
    if (error instanceof HubError && !(mayPass(error) && hasPatience)) return undefined;
    throw error;
  }
}

/** Whether the check of the commit is this intent's: a newer one of the same commit has it, if there is one. */
async function speaks(work: Work, intent: Intent, done: Intent): Promise<boolean> {
  if (sameCommit(intent.commit, done.commit)) return false;
  const all = await work.world.store.intentsOf(intent.deploymentId, intent.commit);
  const last = all.findLast(({ end, cause }) => end?.kind !== 'joined' && cause.kind !== 'failure');
  return last?.id === intent.id;
}
