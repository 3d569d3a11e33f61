import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { Secret } from '../../../src/contract/control/secret.ts';
import { namedSchemas } from './public-answers.ts';

/** How the values of secrets are hidden in responses. */
export type Hiding = 'shown' | 'empty' | 'masked' | 'null' | 'unlisted';

export interface StandInSettings {
  hiding?: Hiding;
  /** The most deployments. */
  quota?: number;
  /** The address of every deployment's agent server. */
  agentUrl?: string;
  /** Without it nothing shows how fields are spelled, until there is a deployment. */
  hasDocument?: boolean;
  refusesUploads?: boolean;
}

export const repository = 'https://github.com/acme/echo';
/** When everything was made. */
export const moment = '2026-11-24T12:00:00Z';
const tenant = randomUUID();

type Config = Record<string, unknown>;

interface Revision {
  id: string;
  config: Config;
  /** The present status and those to come. */
  statuses: string[];
}

interface Deployment {
  id: string;
  name: string;
  source: string;
  config: Config;
  secrets: Secret[];
  references: unknown;
  /** Newest first. */
  revisions: Revision[];
  active: string | null;
  /** How many more reads see it while it is deleted. */
  readsLeft?: number;
}

const config = z.record(z.string(), z.unknown()).nullish();

/** The body of a creation or a PATCH. */
export const write = z.looseObject({
  name: z.string().nullish(),
  source: z.string().nullish(),
  source_config: config,
  source_revision_config: config,
  secrets: z.array(z.object({ name: z.string(), value: z.string() })).nullish(),
  secret_references: z.unknown().optional(),
});
export type Write = z.infer<typeof write>;

/** A refusal, as the document describes its `detail`. */
export class Refused extends Error {
  readonly status: 400 | 404 | 422;
  readonly detail: unknown;

  constructor(status: 400 | 404 | 422, detail: unknown) {
    super(JSON.stringify(detail));
    this.status = status;
    this.detail = detail;
  }
}

/** What the stand-in of the public control service keeps, and its rules. Every read of a revision advances it. */
export class StandInState {
  readonly settings: StandInSettings;
  readonly #deployments = new Map<string, Deployment>();
  /** The paths of uploads. */
  readonly uploaded = new Set<string>();

  constructor(settings: StandInSettings) {
    this.settings = settings;
  }

  secretsOf(id: string): readonly Secret[] {
    return this.#deployments.get(id)?.secrets ?? [];
  }

  list(part: string, first: number, most: number): unknown[] {
    const found = [...this.#deployments.values()].filter(({ name }) => name.includes(part));
    return found.slice(first, first + most).map((each) => this.#described(each));
  }

  read(id: string): unknown {
    return this.#described(this.#deployment(id));
  }

  create(requested: Write): unknown {
    const { quota = Infinity } = this.settings;
    if (this.#deployments.size >= quota) {
      throw new Refused(400, `Your plan allows ${quota} deployments, and all of them are in use.`);
    }
    const { source = '', source_revision_config: revision } = requested;
    if (isBuilt(source) && !revision?.['langgraph_config_path']) {
      throw new Refused(400, 'source_revision_config.langgraph_config_path is required for this source.');
    }
    const deployment: Deployment = {
      id: randomUUID(),
      name: requested.name ?? '',
      source: source ?? '',
      config: requested.source_config ?? {},
      secrets: requested.secrets ?? [],
      references: requested.secret_references,
      revisions: [],
      active: null,
    };
    this.#deployments.set(deployment.id, deployment);
    begin(deployment, revision ?? {});
    return this.#described(deployment);
  }

  patch(id: string, requested: Write): unknown {
    const deployment = this.#deployment(id);
    const revision = stated(requested.source_revision_config);
    const path = revision['source_tarball_path'];
    if (typeof path === 'string' && !this.uploaded.has(path)) {
      throw new Refused(400, 'source_tarball_path is not the path of an upload of this deployment.');
    }
    deployment.config = { ...deployment.config, ...stated(requested.source_config) };
    const secrets = requested.secrets ?? [];
    if (secrets.length > 0) deployment.secrets = secrets;
    if (requested.secret_references != null) deployment.references = requested.secret_references;
    const resources = requested.source_config?.['resource_spec'] ?? null;
    if (Object.keys(revision).length > 0 || secrets.length > 0 || resources !== null) {
      begin(deployment, { ...deployment.revisions[0]?.config, ...revision });
    }
    return this.#described(deployment);
  }

  /** It is seen twice more before it is gone. */
  delete(id: string): void {
    this.#deployment(id).readsLeft = 2;
  }

  revisions(id: string): unknown[] {
    const deployment = this.#deployment(id);
    return deployment.revisions.map((each) => describedRevision(deployment, each));
  }

  readRevision(id: string, revisionId: string): unknown {
    const [deployment, revision] = this.#revision(id, revisionId);
    if (!isWaiting(deployment, revision) && revision.statuses.length > 1) revision.statuses.shift();
    if (revision.statuses[0] === 'DEPLOYED') deployment.active = revision.id;
    return describedRevision(deployment, revision);
  }

  redeploy(id: string, revisionId: string): unknown {
    const [deployment, revision] = this.#revision(id, revisionId);
    begin(deployment, { ...revision.config });
    return this.#described(deployment);
  }

  #deployment(id: string): Deployment {
    const found = this.#deployments.get(id);
    if (found?.readsLeft === 0) this.#deployments.delete(id);
    else if (found?.readsLeft !== undefined) found.readsLeft -= 1;
    if (!found || !this.#deployments.has(id)) throw new Refused(404, 'Deployment not found');
    return found;
  }

  #revision(id: string, revisionId: string): [Deployment, Revision] {
    const deployment = this.#deployment(id);
    const revision = deployment.revisions.find((each) => each.id === revisionId);
    if (!revision) throw new Refused(404, 'Revision not found');
    return [deployment, revision];
  }

  #described(deployment: Deployment): unknown {
    const { agentUrl = 'https://echo.agents.invalid', hiding = 'empty' } = this.settings;
    return {
      id: deployment.id,
      name: deployment.name,
      source: deployment.source,
      source_config: { ...all('SourceConfig'), ...deployment.config, custom_url: deployment.active ? agentUrl : null },
      source_revision_config: { ...all('SourceRevisionConfig'), ...deployment.revisions[0]?.config },
      secrets: hiding === 'unlisted' ? undefined : deployment.secrets.map((each) => hidden(each, hiding)),
      secret_references: deployment.references ?? null,
      tenant_id: tenant,
      created_at: moment,
      updated_at: moment,
      status: deployment.readsLeft === undefined ? 'READY' : 'AWAITING_DELETE',
      latest_revision_id: deployment.revisions[0]?.id ?? null,
      active_revision_id: deployment.active,
      image_version: null,
    };
  }
}

const describedRevision = ({ source }: Deployment, { id, config: own, statuses }: Revision) => ({
  id,
  source,
  created_at: moment,
  updated_at: moment,
  status: statuses[0],
  source_revision_config: { ...all('SourceRevisionConfig'), ...own },
});

const hidden = ({ name, value }: Secret, hiding: Exclude<Hiding, 'unlisted'>) => ({
  name,
  value: { shown: value, empty: '', masked: '********', null: null }[hiding],
});

const isBuilt = (source: string | null | undefined): boolean => source === 'github' || source === 'internal_source';

/** A revision of a folder that has not arrived waits for it. */
const isWaiting = ({ source }: Deployment, { config: own, statuses }: Revision): boolean =>
  source === 'internal_source' && !own['source_tarball_path'] && statuses.length > 1;

function begin(deployment: Deployment, of: Config): void {
  for (const each of deployment.revisions) if (isWaiting(deployment, each)) each.statuses = ['SKIPPED'];
  deployment.revisions.unshift({
    id: randomUUID(),
    config: typeof of['repo_ref'] === 'string' ? { ...of, repo_commit_sha: 'a'.repeat(40) } : of,
    statuses: ['CREATING', ...(isBuilt(deployment.source) ? ['BUILDING'] : []), 'DEPLOYING', 'DEPLOYED'],
  });
}

/** Omitted or null means that a field stays as it is. */
const stated = (of: Config | null | undefined): Config =>
  Object.fromEntries(Object.entries(of ?? {}).filter(([, value]) => value !== null));

/** Every field of a schema, null. */
const all = (schema: string): Record<string, null> =>
  Object.fromEntries(Object.keys(Object(namedSchemas[schema]?.['properties'])).map((name) => [name, null]));
