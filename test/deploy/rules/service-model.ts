import type {
  Deployment,
  DeploymentCreateRequest,
  DeploymentPatchRequest,
} from '../../../src/contract/control/deployment.ts';
import { fieldRules } from '../../../src/contract/control/field-rules.ts';
import { unusedResourceFields, withResourceDefaults } from '../../../src/contract/control/resource-spec.ts';
import { isTagRef } from '../../../src/contract/control/repo-ref.ts';
import type { Revision } from '../../../src/contract/control/revision.ts';
import type { SourceRevisionConfig } from '../../../src/contract/control/source.ts';

/** Ways in which a service's responses may differ from what it was sent. */
export interface Quirks {
  fillsDefaults: boolean;
  addsNulls: boolean;
  /** Drops deprecated fields. */
  dropsUnused: boolean;
  reordersSecrets: boolean;
  /** Reports nothing of an upload, as the public service does. */
  hidesDigests: boolean;
}

const plainService: Quirks = {
  fillsDefaults: false,
  addsNulls: false,
  dropsUnused: false,
  reordersSecrets: false,
  hidesDigests: false,
};

/** A service that follows `fieldRules` and nothing more: its state after each request. */
export class ServiceModel {
  deployment: Deployment | undefined;
  readonly revisions: Revision[] = [];
  readonly quirks: Quirks;
  /** The digests of the uploads, by the paths that were issued; undefined until the bytes are there. */
  readonly uploads = new Map<string, string | undefined>();

  constructor(quirks: Quirks = plainService) {
    this.quirks = quirks;
  }

  create(request: DeploymentCreateRequest): Deployment {
    for (const { path, appliesTo, requiredFor } of fieldRules) {
      const given = at(request, path);
      if (requiredFor.includes(request.source) && given == null) throw new Error(`${path} is required`);
      if (!appliesTo.includes(request.source) && given != null) throw new Error(`${path} is for another source`);
    }
    this.deployment = this.#answered({
      name: request.name,
      source: request.source,
      source_config: { ...request.source_config },
      source_revision_config: this.#withDigest(request.source, {
        ...request.source_revision_config,
        repo_commit_sha: null,
      }),
      secrets: [...request.secrets],
      secret_references: request.secret_references ?? null,
      id: 'd1',
      tenant_id: 't1',
      created_at: '2026-01-01T00:00:00Z',
      updated_at: '2026-01-01T00:00:00Z',
      status: 'READY',
      latest_revision_id: null,
      active_revision_id: null,
    });
    this.#makeRevision();
    return this.#checked();
  }

  patch(request: DeploymentPatchRequest): Deployment {
    const held = this.#checked();
    let makes = false;
    for (const { path, appliesTo, patch } of fieldRules) {
      const given = at(request, path);
      if (given == null) continue;
      if (!appliesTo.some((source) => source === held.source)) throw new Error(`${path} is for another source`);
      if (patch === 'fixed' || patch === 'read-only') throw new Error(`${path} cannot be changed`);
      if (patch === 'revision') makes = true;
    }
    this.deployment = this.#answered({
      ...held,
      source_config: { ...held.source_config, ...nonNull(request.source_config) },
      source_revision_config: this.#withDigest(held.source, {
        ...held.source_revision_config,
        ...nonNull(request.source_revision_config),
      }),
      secrets: request.secrets ? [...request.secrets] : held.secrets,
      secret_references: request.secret_references ?? held.secret_references,
    });
    if (makes) this.#makeRevision();
    return this.#checked();
  }

  /** Sets status and commit of the newest revision, which serves if it is DEPLOYED. */
  settle(status: string, commit?: string): void {
    const held = this.#checked();
    const newest = this.revisions[0];
    if (!newest) throw new Error('there is no revision');
    newest.status = status;
    newest.source_revision_config = { ...newest.source_revision_config, repo_commit_sha: commit ?? null };
    this.deployment = {
      ...held,
      source_revision_config: { ...held.source_revision_config, repo_commit_sha: commit ?? null },
      active_revision_id: status === 'DEPLOYED' ? newest.id : held.active_revision_id,
    };
  }

  revision(id: string | null | undefined): Revision | undefined {
    return this.revisions.find((each) => each.id === id);
  }

  /** Issues a path for a tarball. */
  handOut(): string {
    const path = `uploads/d1/${this.uploads.size + 1}.tar.gz`;
    this.uploads.set(path, undefined);
    return path;
  }

  /** Stores the bytes of this digest at a path. */
  store(path: string, digest: string): void {
    if (!this.uploads.has(path)) throw new Error(`${path} was not issued`);
    this.uploads.set(path, digest);
  }

  #withDigest(source: string, config: SourceRevisionConfig): SourceRevisionConfig {
    if (source !== 'internal_source') return config;
    const path = config.source_tarball_path ?? null;
    const digest = path === null ? null : this.uploads.get(path);
    if (digest === undefined) throw new Error(`nothing was uploaded to ${path}`);
    const reported = { ...config, source_tarball_path: path };
    return this.quirks.hidesDigests ? reported : { ...reported, source_tarball_digest: digest };
  }

  #makeRevision(): void {
    const held = this.#checked();
    const { source_config, source_revision_config } = held;
    const { repo_ref } = source_revision_config;
    if (source_config.build_on_push && repo_ref && isTagRef(repo_ref))
      throw new Error('build_on_push cannot be on with a tag');
    const id = `r${this.revisions.length + 1}`;
    this.revisions.unshift({ id, status: 'QUEUED', source_revision_config: { ...source_revision_config } });
    this.deployment = { ...held, latest_revision_id: id };
  }

  #checked(): Deployment {
    if (!this.deployment) throw new Error('there is no deployment');
    return this.deployment;
  }

  #answered(held: Deployment): Deployment {
    const { resource_spec } = held.source_config;
    let spec: Record<string, unknown> | null | undefined = resource_spec;
    if (spec && this.quirks.fillsDefaults) spec = withResourceDefaults(spec);
    if (spec && this.quirks.dropsUnused) {
      spec = Object.fromEntries(Object.entries(spec).filter(([field]) => !unused.has(field)));
    }
    if (spec && this.quirks.addsNulls) spec = { db_cpu: null, labels: null, newer_field: null, ...spec };
    return {
      ...held,
      source_config: {
        ...(this.quirks.addsNulls ? allNull : {}),
        ...held.source_config,
        ...(spec === undefined ? {} : { resource_spec: spec }),
      },
      secrets: this.quirks.reordersSecrets ? held.secrets?.toReversed() : held.secrets,
    };
  }
}

const unused = new Set<string>(unusedResourceFields);

const allNull = { build_on_push: null, install_command: null, build_command: null, listener_config: null };

function at(body: object, path: string): unknown {
  let held: unknown = body;
  for (const step of path.split('.')) {
    if (typeof held !== 'object' || held === null) return undefined;
    held = Object.entries(held).find(([key]) => key === step)?.[1];
  }
  return held;
}

function nonNull(part: object | null | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(part ?? {}).filter(([, value]) => value != null));
}
