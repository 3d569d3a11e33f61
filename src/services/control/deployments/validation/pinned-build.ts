import { posix } from 'node:path';
import { buildOfHeader, commitHeader } from '../../../../contract/control/revision.ts';
import { withoutTrailingSlashes } from '../../../../kit/plain-text.ts';
import type { PinnedBuild, ReusedBuild } from '../../store/records.ts';
import type { DeploymentRecord, RevisionRecord } from '../../store/tables.ts';
import { fieldAt } from '../../validation/field.ts';
import { accepted, againstRules, type ValidationResult } from '../../validation/refusal.ts';
import { checkRedeploy } from './redeploy.ts';

/** What decides the content of a build beside the commit. */
const fieldsOfBuild = [
  'source_config.repo_url',
  'source_revision_config.graph_config_path',
  'source_config.install_command',
  'source_config.build_command',
] as const;

/** What a change asks for in its headers. */
export interface RequestedPin {
  /** The commit, as it is written. */
  commit: string | undefined;
  /** The revision whose build is to be deployed; `missing` where the tenant has none of that id. */
  from: RevisionRecord | 'missing' | undefined;
}

/** The deployment as the change leaves it. It has no id before its creation. */
type ChangedDeployment = Pick<DeploymentRecord, 'source' | 'source_config' | 'source_revision_config'> &
  Partial<Pick<DeploymentRecord, 'id'>>;

/** What a change's revision is built from where the change names it, or every reason against it. */
export function checkPin(
  { commit, from }: RequestedPin,
  wanted: ChangedDeployment,
): ValidationResult<PinnedBuild | ReusedBuild | undefined> {
  const sha = commit?.toLowerCase();
  if (sha !== undefined && !/^[0-9a-f]{40}$/.test(sha))
    return againstRules([`${commitHeader} is no full SHA of a commit. Send its 40 hexadecimal digits.`]);
  const header = from === undefined ? commitHeader : buildOfHeader;
  if ((sha ?? from) !== undefined && wanted.source !== 'github')
    return againstRules([
      `${header} is for the source github, and this is ${wanted.source}. Send the change without it.`,
    ]);
  if (from === undefined) {
    const details = { commit_subject: null, commit_author: null, commit_authored_at: null, build_of: null };
    return accepted(sha === undefined ? undefined : { repo_commit_sha: sha, ...details });
  }
  if (from === 'missing') {
    const detail = `No deployment of this workspace has the revision that ${buildOfHeader} names. Send the id of one whose build is to be deployed.`;
    return { ok: false, refusal: { status: 404, detail } };
  }
  const problem = problemOfBuild(from, wanted, sha);
  if (problem !== undefined) return againstRules([problem]);
  const built = checkRedeploy(from, from);
  if (!built.ok) return built;
  // Its own build is there already, and gets other settings.
  if (from.deployment_id === wanted.id) return accepted({ ...from, redeploy_of: from.id });
  const { repo_commit_sha, commit_subject, commit_author, commit_authored_at } = from;
  return accepted({ build_of: from.id, repo_commit_sha, commit_subject, commit_author, commit_authored_at });
}

/** The value of a field without what makes no difference to a build. */
function plainly(path: (typeof fieldsOfBuild)[number], owner: object): string {
  const given = fieldAt(owner, path);
  const value = typeof given === 'string' ? given : '';
  if (path === 'source_revision_config.graph_config_path') return posix.normalize(value);
  return path === 'source_config.repo_url' ? withoutSuffix(withoutTrailingSlashes(value), '.git') : value;
}

const withoutSuffix = (text: string, suffix: string): string =>
  text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;

/** Why the build of a revision is not for this deployment, if anything. */
function problemOfBuild(from: RevisionRecord, wanted: ChangedDeployment, sha: string | undefined): string | undefined {
  const { id, source, repo_commit_sha } = from;
  if (source !== wanted.source)
    return `The revision ${id} has the source ${source}, and this deployment ${wanted.source}. Name one that was built from a repository.`;
  const differing = fieldsOfBuild.filter((path) => plainly(path, wanted) !== plainly(path, from));
  if (differing.length > 0)
    return `The build of the revision ${id} was made with other settings: ${differing.join(', ')}. Set them to the same values, or send the change without ${buildOfHeader}.`;
  return sha !== undefined && sha !== repo_commit_sha
    ? `The revision ${id} was built from another commit than ${commitHeader} names. Send one of the two headers.`
    : undefined;
}
