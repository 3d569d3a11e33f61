import { loggerTo } from '../../logger.ts';
import { handleEvent } from '../../../app/events/handle-event.ts';
import type { EventDecision, PullRequestExaminer } from '../../../app/events/event-types.ts';
import type { Permission } from '../../../src/deploy/commands/outcomes.ts';
import { checkName, commitCheckName } from '../../../app/reconcile/report.ts';
import type { Intent } from '../../../app/reconcile/intent.ts';
import type { Targets, AppContext } from '../../../app/context.ts';
import { untested } from '../reconcile/untested.ts';
import { AgentModel } from '../../deploy/smoke/agent-model.ts';
import { SimulatedClock } from '../../deploy/machine/simulated-clock.ts';
import { ModelGit } from '../simulation/model-git.ts';
import { ModelHub } from '../simulation/model-hub.ts';
import { MemoryStore } from '../reconcile/memory-store.ts';
import { repository, start, terms } from '../reconcile/requests.ts';
import { StillControl } from './still-control.ts';

/** A branch of `acme/agents`, and the deployments `d-...` that are built from it. */
export function targetsOn(branch: string, ...names: string[]): Targets {
  return {
    targets: names.map((name) => ({
      deploymentId: `d-${name}`,
      repoRef: branch,
      terms: { ...terms, deploymentName: name },
    })),
    refused: [],
  };
}

/** A static context: one repository, one store, GitHub and the service as models. */
export class HandlerFixture {
  readonly clock = new SimulatedClock(start);
  readonly git = new ModelGit(() => this.clock.now());
  readonly githubApi = new ModelHub(this.git);
  readonly control = new StillControl(this.clock);
  readonly jobs: string[] = [];
  readonly store = new MemoryStore({
    now: () => this.clock.now(),
    send: (name, id) => this.jobs.push(`${name} ${id}`),
  });
  /** What each branch deploys; a branch that is not here deploys nothing. */
  readonly branches = new Map<string, Targets>();
  readonly decided = new Map<string, Readonly<Record<string, unknown>>>();
  readonly log: string[] = [];
  /** How often a run of recovery was requested. */
  recoveries = 0;
  readonly context: AppContext = {
    clock: this.clock,
    random: () => 0.5,
    store: this.store,
    githubApi: this.githubApi,
    control: this.control,
    agentAt: () => new AgentModel(this.clock),
    targets: { targetsOf: async (_, branch) => this.branches.get(branch) ?? { targets: [], refused: [] } },
    smoke: untested,
    log: loggerTo((message) => this.log.push(message)),
    recoverSoon: async () => void (this.recoveries += 1),
  };

  /** A commit on top of a branch. */
  commit(branch = 'main', message = 'Work'): string {
    return this.git.commit(branch, { message, paths: ['agent.py'], fate: 'good' });
  }

  allow(permission: Permission): void {
    this.githubApi.permission = permission;
  }

  /** An event comes; its payload has the repository, the installation and the sender that events have. */
  async receive(name: string, payload: object, delivery = 'guid-1', pullRequests = noExaminer): Promise<EventDecision> {
    const event = { id: delivery, name, payload: { ...place, ...payload } };
    const decision = await handleEvent(event, this.context, pullRequests);
    this.decided.set(delivery, { ...decision });
    return decision;
  }

  push(after: string, branch = 'main', delivery = 'guid-1'): Promise<EventDecision> {
    return this.receive('push', { ref: `refs/heads/${branch}`, before: 'b'.repeat(40), after }, delivery);
  }

  /** Every intent, as `state commit on deployment for cause`. */
  intents(): Intent[] {
    return [...this.store.intents.values()];
  }

  /** What the check of a deployment on a commit, or of the commit as a whole, wants to say. */
  async check(headSha: string, deployment?: string) {
    const name = deployment === undefined ? commitCheckName : checkName(deployment);
    const report = await this.store.reportOf(repository.repositoryId, headSha, name);
    return report?.wanted.kind === 'check' ? report.wanted.content : undefined;
  }

  /** Advances an intent of a deployment to this, as its worker would. */
  async save(intent: Intent): Promise<void> {
    await this.store.wake(intent.deploymentId);
    const lease = await this.store.takeLease(intent.deploymentId, 'worker', 1_000);
    if (!lease) throw new Error('the lease is held');
    await this.store.save(lease, { intents: [intent] });
    await this.store.leaveLease(lease, undefined);
  }
}

/** Examines no pull request. */
export const noExaminer: PullRequestExaminer = {
  examine: async () => undefined,
  plan: async () => ({ status: 'completed', conclusion: 'success', title: 'Would change nothing', summary: 'A plan.' }),
};

/** What every event of the repository has. */
export const place = {
  repository: { id: repository.repositoryId, full_name: 'acme/agents', fork: false },
  installation: { id: repository.installationId },
  sender: { login: 'octocat' },
};
