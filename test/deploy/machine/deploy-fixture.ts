import type { Desired, DesiredExternalDocker, DesiredGithub } from '../../../src/deploy/file/desired.ts';
import type { SmokeTest } from '../../../src/deploy/file/smoke-test.ts';
import type { Workflow } from '../../../src/deploy/file/workflow.ts';
import { deploy } from '../../../src/deploy/machine/deploy.ts';
import type { Outcome } from '../../../src/deploy/machine/outcome-types.ts';
import type { DeployRunRequest } from '../../../src/deploy/machine/deploy-run.ts';
import type { DeployEvent } from '../../../src/deploy/machine/deploy-event.ts';
import { AgentModel } from '../smoke/agent-model.ts';
import { ControlModel, goesLive } from './control-model.ts';
import { SimulatedClock } from './simulated-clock.ts';

export const first = 'a'.repeat(40);
export const second = 'b'.repeat(40);

export const github: DesiredGithub = {
  source: 'github',
  name: 'agent',
  repoUrl: 'https://github.com/acme/agent',
  repoRef: 'main',
  graphConfigPath: 'langgraph.json',
  secretsStrategy: 'merge',
  rebuild: 'auto',
};
export const image: DesiredExternalDocker = {
  source: 'external_docker',
  name: 'agent',
  imageUri: 'registry.test/agent:1',
  secretsStrategy: 'merge',
};
export const workflowOn = (sha: string): Workflow => ({
  repository: 'acme/agent',
  serverUrl: 'https://github.com',
  ref: 'refs/heads/main',
  sha,
});

/** The request that created the existing deployment. */
export const built = {
  name: 'agent',
  source: 'github' as const,
  source_config: { repo_url: 'https://github.com/acme/agent' },
  source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
  secrets: [{ name: 'TOKEN', value: 'canary-of-the-service' }],
};
export const imaged = {
  name: 'agent',
  source: 'external_docker' as const,
  source_config: { custom_url: 'https://agent.test' },
  source_revision_config: { image_uri: 'registry.test/agent:1' },
  secrets: [{ name: 'TOKEN', value: 'canary-of-the-service' }],
};

export const hello: SmokeTest = {
  name: 'says hello',
  assistant: 'echo',
  thread: false,
  input: { input: 'x' },
  streamModes: ['updates'],
  expect: [
    { kind: 'status', equals: 'success' },
    { kind: 'value', path: '$.output', test: { kind: 'contains', text: 'hello' } },
  ],
  attempts: 2,
  timeoutMs: 30_000,
};

/** What a test asks of a run. A run that deploys nothing is about the deployment of the same name. */
export type RunOfTest = Partial<Omit<DeployRunRequest, 'mode' | 'desired' | 'named'>> & {
  mode?: DeployRunRequest['mode'];
  desired?: Desired;
};

/** A fixture for deploy runs: clock, service, agent and reported events. */
export class DeployFixture {
  readonly clock = new SimulatedClock();
  readonly control = new ControlModel(this.clock);
  readonly agent = new AgentModel(this.clock);
  readonly events: DeployEvent[] = [];
  readonly masked: string[] = [];
  readonly cancelled = new AbortController();
  readonly addresses: string[] = [];

  async deploy({ mode = 'deploy', desired = github, ...request }: RunOfTest = {}): Promise<Outcome> {
    const subject = mode === 'deploy' || mode === 'plan' ? { mode, desired } : { mode, named: desired };
    return deploy({
      ...subject,
      smokeTests: [],
      onFailure: 'keep',
      wait: true,
      onSuperseded: 'fail',
      control: this.control,
      agentAt: (url) => {
        this.addresses.push(url);
        return this.agent;
      },
      clock: this.clock,
      random: () => 0.5,
      timeoutMs: 600_000,
      pollMs: 5_000,
      workflow: workflowOn(first),
      signal: this.cancelled.signal,
      emit: (event) => this.events.push(event),
      mask: (secret) => this.masked.push(secret),
      ...request,
    });
  }

  reported<Kind extends DeployEvent['kind']>(kind: Kind): Extract<DeployEvent, { kind: Kind }>[] {
    return this.events.filter((event): event is Extract<DeployEvent, { kind: Kind }> => event.kind === kind);
  }

  /** Advances the clock before the run starts. */
  async passes(ms: number): Promise<this> {
    await this.clock.sleep(ms);
    return this;
  }
}

/** A fixture in which r1, of the first commit, is live. */
export const running = async (): Promise<DeployFixture> => {
  const fixture = new DeployFixture();
  fixture.control.has(built, goesLive(first));
  return fixture.passes(60_000);
};
