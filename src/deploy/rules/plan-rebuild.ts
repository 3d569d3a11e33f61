import type { Deployment } from '../../contract/control/deployment.ts';
import type { Revision } from '../../contract/control/revision.ts';
import { classOfRevisionStatus } from '../../contract/control/revision-status.ts';
import type {
  Desired,
  DesiredExternalDocker,
  DesiredGithub,
  DesiredInternalDocker,
  DesiredInternalSource,
} from '../file/desired.ts';
import { sameCommit, shortCommit } from './commit.ts';
import { requestedRules, tarballField } from './plan-fields.ts';
import { compareTarball, latestDigest, latestPath, waitsForUpload } from './plan-tarball.ts';
import type { Obstacle, ObservedState, TarballSummary } from './plan-types.ts';

/** Whether to build when no field differs: the existing build may still not be the requested one. */
export type RebuildDecision =
  /** The source is restated, so that a new revision is made. */
  | { kind: 'make'; why: string; notes: readonly string[] }
  /** This revision is on its way and carries it. */
  | { kind: 'adopt'; revisionId: string; unreported: boolean; why: string; notes: readonly string[] }
  | { kind: 'stay'; why: string; notes: readonly string[] }
  /** `always` (not the setting): a revision that another field makes would not help either. */
  | { kind: 'stuck'; obstacle: Obstacle; always?: true };

/** How a revision stands: it serves, it may yet serve, or it never will. */
export type RevisionPhase = 'live' | 'on-its-way' | 'ended';

/** A finished revision that does not serve yet is in progress; so is one with an unknown status. */
export function phaseOf(revision: Revision, activeRevisionId: string | null): RevisionPhase {
  const known = classOfRevisionStatus(revision.status);
  if (known === 'live') return revision.id === activeRevisionId ? 'live' : 'on-its-way';
  return known === 'in-progress' || known === 'unknown' ? 'on-its-way' : 'ended';
}

/** Decides whether to build an existing deployment again though no field differs. */
export function decideRebuild(desired: Desired, deployment: Deployment, seen: ObservedState): RebuildDecision {
  const latest = seen.latest && { ...seen.latest, phase: phaseOf(seen.latest, deployment.active_revision_id) };
  const actual = { live: seen.live, latest, onTheirWay: seen.onTheirWay ?? [] };
  if (waitsForUpload(deployment, seen.latest) && (desired.rebuild === 'never' || !seen.tarball)) {
    const problem = `revision ${seen.latest?.id} waits for a folder to be uploaded`;
    const advice = desired.rebuild === 'never' ? 'Set rebuild to auto.' : 'Give source-dir.';
    return { kind: 'stuck', obstacle: { field: tarballField, problem, advice }, always: true };
  }
  if (desired.rebuild === 'always') return make('rebuild is always');
  if (desired.rebuild === 'never') return decideWithoutRebuild(actual);
  if (desired.source === 'external_docker' || desired.source === 'internal_docker')
    return decideForImage(desired, actual);
  return desired.source === 'github'
    ? decideForCommit(desired, actual, seen)
    : decideForFolder(desired, actual, deployment, seen.tarball);
}

interface Actual {
  live: Revision | undefined;
  latest: (Revision & { phase: RevisionPhase }) | undefined;
  onTheirWay: readonly Revision[];
}

const make = (why: string, notes: readonly string[] = []): RebuildDecision => ({ kind: 'make', why, notes });
const stay = (why: string, notes: readonly string[] = []): RebuildDecision => ({ kind: 'stay', why, notes });

function adopt(revision: Revision, why: string, notes: readonly string[] = [], unreported = false): RebuildDecision {
  return { kind: 'adopt', revisionId: revision.id, unreported, why, notes };
}

const commitOfRevision = (revision: Revision | undefined) => revision?.source_revision_config.repo_commit_sha;

function decideForCommit(
  desired: DesiredGithub,
  { live, latest, onTheirWay }: Actual,
  { commit }: ObservedState,
): RebuildDecision {
  if (commit.kind === 'unknown') {
    const why = `the requested commit is not known (${commit.why})`;
    return make(why, [`${why}: the ref is built again to be sure`]);
  }
  const wanted = shortCommit(commit.sha);
  const isOfCommit = (revision: Revision | undefined) => sameCommit(commitOfRevision(revision), commit.sha);
  const inProgress = latest?.phase === 'on-its-way' ? [latest, ...onTheirWay] : onTheirWay;
  const carrying = inProgress.find(isOfCommit);
  if (carrying) {
    const newer = `a newer revision (${latest?.id}) waits behind the one of ${wanted}`;
    const why = `revision ${carrying.id} of commit ${wanted} is on its way already (${carrying.status})`;
    return adopt(carrying, why, carrying.id === latest?.id ? [] : [newer]);
  }
  if (latest?.phase === 'on-its-way' && !commitOfRevision(latest)) {
    const why = `revision ${latest.id} is on its way (${latest.status}) and does not report its commit yet`;
    return adopt(latest, why, [why], true);
  }
  if (isOfCommit(live)) {
    const mayBeOfCommit = latest?.phase === 'ended' && (isOfCommit(latest) || !commitOfRevision(latest));
    return mayBeOfCommit && requestsUnreportedFields(desired)
      ? make(`${endedWords(latest)}, and the live one may lack what it carried`)
      : stay(`commit ${wanted} is live already`, notesOn(latest, live));
  }
  if (latest?.phase === 'ended' && isOfCommit(latest)) return make(`${endedWords(latest)} for commit ${wanted}`);
  if (live && !commitOfRevision(live)) {
    const why = 'the live revision does not report which commit it was built from';
    return make(why, [`${why}: the ref is built again to be sure`]);
  }
  return make(`commit ${wanted} is not live${live ? `, ${shortCommit(commitOfRevision(live) ?? '')} is` : ''}`);
}

function decideForImage(
  desired: DesiredExternalDocker | DesiredInternalDocker,
  { live, latest }: Actual,
): RebuildDecision {
  if (latest?.phase === 'on-its-way') return adoptAsIs(latest);
  if (latest?.phase === 'ended') {
    const serves = live && (desired.imageUri ?? live.source_revision_config.image_uri);
    return serves && serves === live.source_revision_config.image_uri && !requestsUnreportedFields(desired)
      ? stay(`image ${serves} is live already`, notesOn(latest, live))
      : make(endedWords(latest));
  }
  return latest ? stay('nothing differs from what is live') : make('there is no revision yet');
}

/** What was uploaded last is what will serve; a folder is compared with that, as an image is by its name. */
function decideForFolder(
  desired: DesiredInternalSource,
  actual: Actual,
  deployment: Deployment,
  tarball: TarballSummary | undefined,
): RebuildDecision {
  if (!tarball) return decideForUpload(desired, actual);
  const { latest } = actual;
  const compared = compareTarball(tarball, latestDigest(deployment, latest), latestPath(deployment, latest));
  if (compared.kind === 'same') return decideForUpload(desired, actual);
  const { kind, why } = compared;
  return make(why, kind === 'unavailable' ? [`${why}: it is uploaded again to be sure`] : []);
}

/** Whether the latest revision is made from the requested upload. */
function decideForUpload(desired: DesiredInternalSource, { live, latest }: Actual): RebuildDecision {
  if (latest?.phase === 'on-its-way') return adoptAsIs(latest);
  if (latest?.phase !== 'ended') return stay('the folder is live as it is');
  const [ended, serving] = [latest, live].map((each) => each?.source_revision_config.source_tarball_digest);
  return ended && ended === serving && !requestsUnreportedFields(desired)
    ? stay('the folder is live as it is', notesOn(latest, live))
    : make(endedWords(latest));
}

function decideWithoutRebuild({ live, latest }: Actual): RebuildDecision {
  if (latest?.phase === 'on-its-way') return adoptAsIs(latest);
  if (live) return stay('no field differs, and rebuild is never', notesOn(latest, live));
  return {
    kind: 'stuck',
    obstacle: {
      field: 'rebuild',
      problem: `nothing is live${latest ? ` (${endedWords(latest)})` : ''}, and rebuild: never forbids to build again`,
      advice: 'Set rebuild to auto.',
    },
  };
}

const adoptAsIs = (latest: Revision) =>
  adopt(latest, `nothing differs from revision ${latest.id}, which is on its way already (${latest.status})`);

/**
 * A revision reports its source, but not the secrets, resources and commands it was made with. The deployment reports
 * the newest ones, which a failed revision may never have put into effect.
 */
function requestsUnreportedFields(desired: Desired): boolean {
  return requestedRules(desired).some(
    ({ path, patch }) =>
      (patch === 'revision' || patch === 'next-revision') && !path.startsWith('source_revision_config.'),
  );
}

const endedWords = ({ id, status }: Revision) => `revision ${id} ended ${status}`;

function notesOn(latest: Actual['latest'], live: Revision | undefined): string[] {
  if (!latest || latest.id === live?.id) return [];
  return latest.phase === 'ended'
    ? [`the newest ${endedWords(latest)} and does not serve`]
    : [`revision ${latest.id} of another commit is on its way (${latest.status}) and will take over`];
}
