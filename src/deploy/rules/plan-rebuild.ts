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
import type { Coded } from '../../kit/coded.ts';
import { sameCommit } from '../../contract/control/repo-ref.ts';
import { requestedRules, tarballField } from './plan-fields.ts';
import { compareTarball, latestDigest, latestPath, waitsForUpload } from './plan-tarball.ts';
import type { Obstacle, ObservedState, PlanNote, RebuildFacts, RebuildReason, TarballSummary } from './plan-types.ts';

/** Why a revision on its way is followed. */
export type AdoptReason = Coded<RebuildFacts, 'on-its-way' | 'commit-unreported'>;

/** Whether to build when no field differs: the existing build may still not be the requested one. */
export type RebuildDecision =
  /** The source is restated, so that a new revision is made. */
  | { kind: 'make' | 'stay'; why: RebuildReason; notes: readonly PlanNote[] }
  /** A revision is on its way and carries it. */
  | { kind: 'adopt'; why: AdoptReason; notes: readonly PlanNote[] }
  /** `always` (not the setting): a revision that another field makes would not help either. */
  | { kind: 'stuck'; why: Obstacle; always?: true };

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
    const isForbidden = desired.rebuild === 'never';
    const why = { field: tarballField, code: 'awaits-folder', revisionId: seen.latest?.id, isForbidden } as const;
    return { kind: 'stuck', why, always: true };
  }
  if (desired.rebuild === 'always') return make({ code: 'rebuild-always' });
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

const make = (why: RebuildReason): RebuildDecision => ({ kind: 'make', why, notes: [] });
const makeToBeSure = (why: RebuildReason): RebuildDecision => ({
  kind: 'make',
  why,
  notes: [{ code: 'built-to-be-sure', reason: why }],
});
const stay = (why: RebuildReason, notes: readonly PlanNote[] = []): RebuildDecision => ({ kind: 'stay', why, notes });
const adopt = (why: AdoptReason, notes: readonly PlanNote[] = []): RebuildDecision => ({ kind: 'adopt', why, notes });

const commitOfRevision = (revision: Revision | undefined) => revision?.source_revision_config.repo_commit_sha;

function decideForCommit(
  desired: DesiredGithub,
  { live, latest, onTheirWay }: Actual,
  { commit }: ObservedState,
): RebuildDecision {
  if (commit.kind === 'unknown') return makeToBeSure({ code: 'commit-unknown', because: commit.because });
  const { sha } = commit;
  const isOfCommit = (revision: Revision | undefined) => sameCommit(commitOfRevision(revision), sha);
  const inProgress = latest?.phase === 'on-its-way' ? [latest, ...onTheirWay] : onTheirWay;
  const carrying = inProgress.find(isOfCommit);
  if (carrying) {
    const isNewest = carrying.id === latest?.id;
    const notes: PlanNote[] = isNewest ? [] : [{ code: 'newer-waits', revisionId: latest?.id, commit: sha }];
    return adopt({ code: 'on-its-way', ...shortOf(carrying), commit: sha }, notes);
  }
  if (latest?.phase === 'on-its-way' && !commitOfRevision(latest)) {
    const why = { code: 'commit-unreported', ...shortOf(latest) } as const;
    return adopt(why, [why]);
  }
  if (isOfCommit(live)) {
    const mayBeOfCommit = latest?.phase === 'ended' && (isOfCommit(latest) || !commitOfRevision(latest));
    return mayBeOfCommit && requestsUnreportedFields(desired)
      ? make({ code: 'ended', ...shortOf(latest), mayLack: true })
      : stay({ code: 'commit-live', commit: sha }, notesOn(latest, live));
  }
  if (latest?.phase === 'ended' && isOfCommit(latest)) return make({ code: 'ended', ...shortOf(latest), commit: sha });
  if (live && !commitOfRevision(live)) return makeToBeSure({ code: 'live-commit-unreported' });
  return make({ code: 'commit-not-live', commit: sha, live: commitOfRevision(live) ?? undefined });
}

function decideForImage(
  desired: DesiredExternalDocker | DesiredInternalDocker,
  { live, latest }: Actual,
): RebuildDecision {
  if (latest?.phase === 'on-its-way') return adoptAsIs(latest);
  if (latest?.phase === 'ended') {
    const serves = live && (desired.imageUri ?? live.source_revision_config.image_uri);
    return serves && serves === live.source_revision_config.image_uri && !requestsUnreportedFields(desired)
      ? stay({ code: 'image-live', image: serves }, notesOn(latest, live))
      : make({ code: 'ended', ...shortOf(latest) });
  }
  return latest ? stay({ code: 'image-same' }) : make({ code: 'no-revision' });
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
  const code = compareTarball(tarball, latestDigest(deployment, latest), latestPath(deployment, latest));
  if (code === 'folder-same') return decideForUpload(desired, actual);
  return code === 'digest-unreported' ? makeToBeSure({ code }) : make({ code });
}

/** Whether the latest revision is made from the requested upload. */
function decideForUpload(desired: DesiredInternalSource, { live, latest }: Actual): RebuildDecision {
  if (latest?.phase === 'on-its-way') return adoptAsIs(latest);
  if (latest?.phase !== 'ended') return stay({ code: 'folder-same' });
  const [ended, serving] = [latest, live].map((each) => each?.source_revision_config.source_tarball_digest);
  return ended && ended === serving && !requestsUnreportedFields(desired)
    ? stay({ code: 'folder-same' }, notesOn(latest, live))
    : make({ code: 'ended', ...shortOf(latest) });
}

function decideWithoutRebuild({ live, latest }: Actual): RebuildDecision {
  if (latest?.phase === 'on-its-way') return adoptAsIs(latest);
  if (live) return stay({ code: 'rebuild-never' }, notesOn(latest, live));
  return { kind: 'stuck', why: { field: 'rebuild', code: 'nothing-live', ended: latest && shortOf(latest) } };
}

const adoptAsIs = (latest: Revision) => adopt({ code: 'on-its-way', ...shortOf(latest) });

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

const shortOf = ({ id, status }: Revision) => ({ revisionId: id, status });

function notesOn(latest: Actual['latest'], live: Revision | undefined): PlanNote[] {
  if (!latest || latest.id === live?.id) return [];
  return [{ code: latest.phase === 'ended' ? 'newest-ended' : 'newest-takes-over', ...shortOf(latest) }];
}
