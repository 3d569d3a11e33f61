import type { DesiredInternalSource } from '../file/desired.ts';
import type { Deployment } from '../../contract/control/deployment.ts';
import type { Revision } from '../../contract/control/revision.ts';
import { classOfRevisionStatus } from '../../contract/control/revision-status.ts';
import { tarballField } from './plan-fields.ts';
import type { ChangeReason, FieldChange, PlanNote, TarballSummary } from './plan-types.ts';

/** Whether the last upload is the requested folder. */
type TarballComparison = 'folder-same' | 'folder-differs' | 'nothing-uploaded' | 'digest-unreported';

/** What is reported of an upload: `undefined` if nothing is reported, `null` if there was none. */
type ReportedText = string | null | undefined;

/** Compares by digest; without a reported digest the result is unknown. */
export function compareTarball(tarball: TarballSummary, held: ReportedText, path: ReportedText): TarballComparison {
  if (held) return held === tarball.digest ? 'folder-same' : 'folder-differs';
  return path || (path === undefined && held === undefined) ? 'digest-unreported' : 'nothing-uploaded';
}

/** The digest from the latest revision, or else from the deployment, which also describes the latest revision. */
export const latestDigest = (deployment: Deployment, latest: Revision | undefined): ReportedText =>
  firstStated(
    latest?.source_revision_config.source_tarball_digest,
    deployment.source_revision_config.source_tarball_digest,
  );

/** The path of the last upload, from the revision or the deployment. */
export const latestPath = (deployment: Deployment, latest: Revision | undefined): ReportedText =>
  firstStated(
    latest?.source_revision_config.source_tarball_path,
    deployment.source_revision_config.source_tarball_path,
  );

const firstStated = (one: ReportedText, other: ReportedText): ReportedText =>
  one || other || (one === undefined ? other : one);

/** The first revision of a creation has no tarball: it waits until another one with a tarball takes its place. */
export function waitsForUpload(deployment: Deployment, latest: Revision | undefined): boolean {
  if (latest === undefined || deployment.source !== 'internal_source') return false;
  const known = classOfRevisionStatus(latest.status);
  const isOnItsWay = known === 'in-progress' || known === 'unknown';
  return isOnItsWay && !latestDigest(deployment, latest) && latestPath(deployment, latest) === null;
}

/** The change that an upload makes, with what is uploaded. */
export const uploadChange = (
  tarball: TarballSummary,
  held: string | null | undefined,
  why: ChangeReason,
): FieldChange => ({
  field: tarballField,
  from: held ? shortDigest(held) : undefined,
  to: `${shortDigest(tarball.digest)} (${tarball.files} ${tarball.files === 1 ? 'file' : 'files'}, ${tarball.size.toLocaleString('en')} bytes packed)`,
  makesRevision: true,
  why,
});

/** A digest, abbreviated but still distinguishable. */
const shortDigest = (digest: string): string => digest.replace(/^(sha256:[0-9a-f]{12}).*$/, '$1');

/** What a person has to know of a folder that is uploaded. */
export function notesOnTarball({ sourceDir }: DesiredInternalSource, tarball: TarballSummary | undefined): PlanNote[] {
  if (sourceDir === undefined) return [];
  if (!tarball) return [{ code: 'folder-unseen' }];
  const { leftOut } = tarball;
  if (leftOut.length === 0) return [];
  const variables = leftOut.filter((path) => /(?:^|\/)\.env(?:\.[^/]*)?$/i.test(path));
  return [
    ...(variables.length === 0 ? [] : [{ code: 'variables-left-out', paths: variables } as const]),
    { code: 'left-out', paths: leftOut },
  ];
}
