import type { Deployment } from '../../../src/contract/control/deployment.ts';
import type { DesiredDeployment } from '../../../src/deploy/file/desired.ts';
import { readDesired } from '../../../src/deploy/file/read-desired.ts';
import {
  runPreview,
  sweepPreviews,
  type PreviewRequest,
  type PullRequest,
} from '../../../src/deploy/machine/preview.ts';
import type { Outcome } from '../../../src/deploy/machine/outcome-types.ts';
import { markOf, previewName } from '../../../src/deploy/rules/preview.ts';
import { built, DeployFixture, first } from './deploy-fixture.ts';

export const file = (preview: string): DesiredDeployment => {
  const text = `name: agent
repo-url: https://github.com/acme/agent
repo-ref: main
graph-config-path: langgraph.json
secrets: [DATABASE_URL]
preview: ${preview}`;
  const read = readDesired({ inputs: {}, file: { text, path: 'landfall.yml' } });
  const [deployment] = read.ok ? read.deployments : [];
  if (!deployment) throw new Error(JSON.stringify(read));
  return deployment;
};

export const key = { repositoryId: 4711, number: 12, entry: 'agent' };
export const opened: PullRequest = {
  repositoryId: 4711,
  number: 12,
  repositoryUrl: 'https://github.com/acme/agent',
  headUrl: 'https://github.com/acme/agent',
  headRef: 'faster',
  headSha: first,
  isFork: false,
  isOpen: true,
  labels: [],
};
export const ofFork: PullRequest = { ...opened, headUrl: 'https://github.com/eve/agent', isFork: true };
export const closed: PullRequest = { ...opened, isOpen: false };

/** A repository's pull requests and its service. */
export class PreviewFixture extends DeployFixture {
  readonly closed = new Set<number>();

  services() {
    return {
      isClosed: async (number: number) => this.closed.has(number),
      wait: true,
      onSuperseded: 'fail' as const,
      control: this.control,
      further: this.control,
      agentAt: () => this.agent,
      clock: this.clock,
      random: () => 0.5,
      timeoutMs: 600_000,
      pollMs: 5_000,
    };
  }

  run(more: Partial<PreviewRequest> = {}): Promise<Outcome> {
    return runPreview({
      deployment: file('true'),
      pull: opened,
      isRequested: false,
      valueOfVariable: () => undefined,
      pack: async () => ({ ok: true }),
      ...this.services(),
      signal: this.cancelled.signal,
      ...more,
    });
  }

  /** Removes what is over, as a run on a schedule. */
  sweep(preview: string): Promise<Outcome> {
    return sweepPreviews(
      {
        deployment: file(preview),
        ...this.services(),
      },
      { id: key.repositoryId, serverUrl: 'https://github.com' },
    );
  }

  /** A deployment that is there, changed last so long ago (ms). */
  has(name: string, secrets: Deployment['secrets'], changedMsAgo = 0): string {
    const updated_at = new Date(this.clock.now() - changedMsAgo).toISOString();
    const id = `other-${this.control.others.length + 1}`;
    const ids = { id, tenant_id: 't1', latest_revision_id: null, active_revision_id: null };
    this.control.others.push({ ...built, ...ids, name, secrets, status: 'READY', created_at: updated_at, updated_at });
    return id;
  }

  /** A preview of another pull request. */
  hasPreview(number: number, changedMsAgo = 0, of = key): string {
    const other = { ...of, number };
    return this.has(previewName(other), [{ name: 'LANDFALL_PREVIEW', value: markOf(other) }], changedMsAgo);
  }

  /** Pushes to all other pull requests. */
  changesOthers(): void {
    const updated_at = new Date(this.clock.now()).toISOString();
    this.control.others = this.control.others.map((each) => ({ ...each, updated_at }));
  }

  get deletedIds(): string[] {
    return this.control.deleted.map(({ id }) => id);
  }
}
