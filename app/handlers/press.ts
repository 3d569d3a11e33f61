import { sameCommit, shortCommit } from '../../src/decide/commit.ts';
import type { Cause, Intent } from '../work/intent.ts';
import { checkName } from '../work/report.ts';
import type { Target, World } from '../world.ts';
import type { DecisionOf } from './event-types.ts';
import type { Handler } from './handling.ts';
import { restating } from './look-at-branch.ts';
import { noteOnCheck } from './note-on-check.ts';
import { targetFor } from './target-for.ts';
import { wayBack } from './way-back.ts';

/** Who may press: GitHub shows the buttons to more people than may deploy. */
const mayPress = new Set(['admin', 'write']);

/** Rollback and Redeploy. What is not done is said on the check, with the reason. */
export const onPress: Handler<'press'> = async (decision, { world, delivery }) => {
  const { repository, headSha, check, button, by } = decision;
  const label = button === 'rollback' ? 'Rollback' : 'Redeploy';
  const refuse = async (why: string) => [
    await noteOnCheck(world, { repository, headSha, name: check.name }, `${label} was not done: ${why}`),
  ];
  const permission = await world.hub.permissionOf(repository, by);
  if (!mayPress.has(permission)) {
    return refuse(
      `${by} has ${permission === 'none' ? 'no' : `only ${permission}`} access to this repository, and it takes write`,
    );
  }
  const intents = (await world.store.intentsAt(repository.repositoryId, headSha)).filter(
    ({ terms }) => checkName(terms.deploymentName) === check.name,
  );
  const newest = intents.at(-1);
  if (!newest) return refuse('nothing is known of this check any more');
  const { deploymentId, branch, terms } = newest;
  const found = await targetFor({ repository, branch, deploymentId, deploymentName: terms.deploymentName }, world);
  if (!found.ok) return refuse(found.why);
  const cause: Cause = { kind: button, key: delivery, by, at: world.clock.now() };
  const pressed = { decision, branch, target: found.target, cause };
  const done = await (button === 'redeploy'
    ? redeploy(pressed, world)
    : rollback(
        pressed,
        intents.filter((intent) => intent.deploymentId === deploymentId),
        world,
      ));
  return done.ok ? [done.did] : refuse(done.why);
};

interface Pressed {
  decision: DecisionOf<'press'>;
  branch: string;
  target: Target;
  cause: Cause;
}

type Done = { ok: true; did: string } | { ok: false; why: string };

/** The head of the branch is built again, whichever commit the button stood on: only a head can be built. */
async function redeploy({ decision: { repository }, branch, target, cause }: Pressed, world: World): Promise<Done> {
  const head = await world.hub.head(repository, branch);
  if (!head) return { ok: false, why: `the branch ${branch} is gone` };
  await world.store.wish(restating(target, { repository, branch, commit: head.sha }, cause));
  return { ok: true, did: `wished for ${shortCommit(head.sha)} on ${target.terms.deploymentName} again` };
}

/** What was live before is put back as it was built then; its commit is the one that the wish is about. */
async function rollback(
  { decision: { repository, headSha }, branch, target, cause }: Pressed,
  intents: readonly Intent[],
  world: World,
): Promise<Done> {
  const { store, control } = world;
  const { deploymentId, terms } = target;
  // The same press again: by now another revision may serve, and the way back from that one is not what was asked for.
  const known = (await store.lastIntents(deploymentId, 100)).find((each) => isOf(each, cause));
  if (known) return { ok: true, did: `knew the way back on ${terms.deploymentName}` };
  const back = await wayBack(intents, deploymentId, control);
  if (!back.ok) return back;
  const commit = back.revision.source_revision_config.repo_commit_sha ?? headSha;
  const sending = { kind: 'redeploy', revisionId: back.revision.id } as const;
  await store.wish({ deploymentId, repository, branch, commit, cause, terms, sending });
  const did = `wished to go back to revision ${back.revision.id} on ${terms.deploymentName}`;
  if (!sameCommit(commit, headSha)) {
    // The way back is told in the check of the commit that it leads to: whoever looks here has to be sent there.
    const note = `${cause.by ?? 'A person'} pressed Rollback: revision ${back.revision.id} of commit ${shortCommit(commit)} is put back, and the check of that commit says how it goes`;
    await noteOnCheck(world, { repository, headSha, name: checkName(terms.deploymentName) }, note);
  }
  return { ok: true, did };
}

const isOf = (intent: Intent, { kind, key }: Cause): boolean => intent.cause.kind === kind && intent.cause.key === key;
