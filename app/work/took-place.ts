import { rolloutOf } from '../../src/decide/rollout.ts';
import { sameCommit, shortCommit } from '../../src/decide/commit.ts';
import type { Rollout } from '../../src/decide/rollout-types.ts';
import { attempt } from '../../src/deploy/attempt.ts';
import { mayContain } from './contains.ts';
import { endOfRollout, ended } from './end-words.ts';
import type { Intent } from './intent.ts';
import { seenOf } from './sight.ts';
import { keep, moved, reading, restFor, type Came, type Work } from './work.ts';

const lookMs = 5_000;

/**
 * A newer revision took the place of the one that was followed. One of the same commit is followed instead: an Action
 * beside the App has asked for it as well. Any other is named in the end, with its commit where it tells it.
 */
export async function tookPlace(
  work: Work,
  intent: Intent,
  rollout: Extract<Rollout, { kind: 'superseded' }>,
): Promise<Came> {
  const { control, clock } = work.world;
  const { deploymentId, deadline } = intent;
  const id = rollout.by ?? (await control.getDeployment(deploymentId, reading(work))).latest_revision_id ?? undefined;
  const told = endOfRollout(intent, id && id !== rollout.revisionId ? { ...rollout, by: id } : rollout);
  const read =
    id && id !== rollout.revisionId ? await attempt(control.getRevision(deploymentId, id, reading(work))) : undefined;
  if (read && !read.ok && read.error.kind !== 'missing') throw read.error;
  const other = read?.ok ? seenOf(read.value, null) : undefined;
  if (other && intent.sending.kind === 'restate' && sameCommit(other.commit, intent.commit)) {
    await keep(work, [{ ...intent, revisionId: other.id, how: 'adopted', rollout: rolloutOf(other.id) }]);
    return moved;
  }
  const now = clock.now();
  const mayTell = other && other.commit === undefined && other.standing === 'on-its-way';
  if (mayTell && now < (deadline ?? now)) return restFor(work, lookMs);
  if (!other?.commit) {
    await keep(work, [ended(intent, told, now)]);
    return moved;
  }
  const contains = await mayContain(work, intent.repository, intent.commit, other.commit);
  const reason = `${told.reason.replace(/\.$/, '')}, which is of commit ${shortCommit(other.commit)}.`;
  await keep(work, [ended(intent, { ...told, reason, by: { commit: other.commit, contains } }, now)]);
  return moved;
}
