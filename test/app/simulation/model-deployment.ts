import type {
  Deployment,
  DeploymentCreateRequest,
  DeploymentPatchRequest,
} from '../../../src/contract/control/deployment.ts';
import type { Revision } from '../../../src/contract/control/revision.ts';
import { ownUrl, type ModelGit } from './model-git.ts';
import { type ModelRevision, ModelRevisions } from './model-revisions.ts';
import type { Timer } from './timer.ts';

type Fields = Pick<DeploymentCreateRequest, 'source' | 'source_config' | 'source_revision_config' | 'secrets'>;

/** Where a revision answers that is held. */
export const addressOf = ({ id }: ModelRevision): string => `https://held.test/${id}`;

/** A deployment of the model, from its creation to its end, as the service answers with it. */
export class ModelDeployment extends ModelRevisions {
  readonly name: string;
  readonly createdAt: number;
  /** When it is gone (ms since the epoch). */
  goneAt = Infinity;
  #fields: Fields;
  readonly #clock: Timer;

  constructor(
    id: string,
    { name, ...fields }: DeploymentCreateRequest,
    clock: Timer,
    git: ModelGit,
    random: () => number,
  ) {
    super(id, sourceOf(fields), clock, git, random);
    this.name = name;
    this.createdAt = clock.now();
    this.#fields = fields;
    this.#clock = clock;
  }

  get secrets(): Fields['secrets'] {
    return this.#fields.secrets;
  }

  /** The repositories and commits that were built, or are to be, oldest first. */
  get built(): { repoUrl: string; commit: string }[] {
    return this.all.map(({ repoUrl, commit, pinned }) => ({ repoUrl, commit: commit ?? pinned ?? '' }));
  }

  patch({ source_config: config, source_revision_config: revision, secrets }: DeploymentPatchRequest): void {
    const { source, ...before } = this.#fields;
    this.#fields = {
      source,
      source_config: { ...before.source_config, ...config },
      source_revision_config: { ...before.source_revision_config, ...revision },
      secrets: secrets ?? before.secrets,
    };
    this.source = sourceOf(this.#fields);
  }

  /** It is gone after this time (ms). */
  leave(ms: number): void {
    this.goneAt = Math.min(this.goneAt, this.#clock.now() + ms);
  }

  response(latest = this.latest): Deployment {
    const at = new Date(this.#clock.now()).toISOString();
    const { source, source_config, source_revision_config, secrets } = this.#fields;
    return structuredClone({
      id: this.id,
      name: this.name,
      tenant_id: 't',
      source,
      source_config,
      source_revision_config: { ...source_revision_config, repo_commit_sha: latest?.commit ?? null },
      secrets,
      created_at: at,
      updated_at: at,
      status: this.goneAt === Infinity ? 'READY' : 'AWAITING_DELETE',
      latest_revision_id: this.latest?.id ?? null,
      active_revision_id: this.active?.id ?? null,
      url: `https://${this.id}.test`,
    });
  }

  revisionResponse(revision: ModelRevision): Revision {
    const { id, status, commit, message, madeAt, hold } = revision;
    const endsAt = hold?.endsAt === undefined ? null : new Date(hold.endsAt).toISOString();
    return {
      id,
      status,
      created_at: new Date(madeAt).toISOString(),
      source: this.#fields.source,
      source_revision_config: { ...this.#fields.source_revision_config, repo_commit_sha: commit ?? null },
      status_message: message ?? null,
      ...(hold ? { hold: { address: addressOf(revision), ends_at: endsAt, decision: hold.decision ?? null } } : {}),
    };
  }
}

const sourceOf = ({ source_config: { repo_url }, source_revision_config: { repo_ref } }: Fields) => ({
  repoUrl: repo_url ?? ownUrl,
  repoRef: repo_ref ?? '',
});
