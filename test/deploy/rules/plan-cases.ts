import type { DesiredExternalDocker, DesiredGithub } from '../../../src/deploy/file/desired.ts';
import type { Deployment } from '../../../src/contract/control/deployment.ts';
import type { RequestedCommit } from '../../../src/deploy/rules/commit.ts';
import type { Plan, ObservedState } from '../../../src/deploy/rules/plan-types.ts';
import { reportedPlan } from '../../../src/deploy/words/plan.ts';

export const ours = 'a'.repeat(40);
export const theirs = 'b'.repeat(40);
export const known: RequestedCommit = { kind: 'known', sha: ours };
export const unknown: RequestedCommit = { kind: 'unknown', because: { code: 'no-workflow' } };

export const github: DesiredGithub = {
  source: 'github',
  name: 'agent',
  repoUrl: 'https://github.com/acme/agent',
  repoRef: 'main',
  graphConfigPath: 'langgraph.json',
  secretsStrategy: 'merge',
  rebuild: 'auto',
};
export const docker: DesiredExternalDocker = {
  source: 'external_docker',
  name: 'agent',
  imageUri: 'registry.test/agent:1',
  secretsStrategy: 'merge',
};

export const base: Deployment = {
  id: 'd1',
  tenant_id: 't1',
  name: 'agent',
  source: 'github',
  source_config: {},
  source_revision_config: {},
  secrets: [{ name: 'TOKEN', value: 'one' }],
  created_at: '',
  updated_at: '',
  status: 'READY',
  latest_revision_id: 'r1',
  active_revision_id: 'r1',
};
export const built: Deployment = {
  ...base,
  source_config: {
    repo_url: 'https://github.com/acme/agent',
    integration_id: '8b6e4c1e-0000-4000-8000-000000000001',
    deployment_type: 'dev',
    build_on_push: false,
    install_command: null,
  },
  source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json', repo_commit_sha: ours },
};
export const image: Deployment = {
  ...base,
  source: 'external_docker',
  source_config: { custom_url: 'https://agent.test', listener_id: null, resource_spec: { cpu: 1, memory_mb: 512 } },
  source_revision_config: { image_uri: 'registry.test/agent:1' },
};

export const revision = (id: string, status: string, repo_commit_sha: string | null = ours) => ({
  id,
  status,
  source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json', repo_commit_sha },
});
export const imageRevision = (id: string, status: string, image_uri = 'registry.test/agent:1') => ({
  id,
  status,
  source_revision_config: { image_uri },
});
export const live = revision('r1', 'DEPLOYED');
export const seen: ObservedState = { deployment: built, live, latest: live, commit: known };
const liveImage = imageRevision('r1', 'DEPLOYED');
export const seenImage: ObservedState = { deployment: image, live: liveImage, latest: liveImage, commit: unknown };
/** Another revision is the newest one; r1 still serves. */
export const newest = (latest: ObservedState['latest'], commit: string | null = ours): Partial<ObservedState> => ({
  latest,
  deployment: { ...built, latest_revision_id: latest?.id ?? null },
  live: revision('r1', 'DEPLOYED', commit),
});

export const changed = (planned: Plan) =>
  planned.kind === 'patch' || planned.kind === 'create' ? planned.changes.map(({ field }) => field) : [];
export const request = (planned: Plan) =>
  planned.kind === 'patch' || planned.kind === 'create' ? planned.request : undefined;
export const obstacles = (planned: Plan) => (planned.kind === 'impossible' ? planned.obstacles : []);
export const notes = (planned: Plan) => (planned.kind === 'impossible' ? [] : planned.notes);
/** All that is shown of a plan, and all that its words are made from. */
export const shown = (planned: Plan) => JSON.stringify([{ ...planned, request: undefined }, reportedPlan(planned)]);
