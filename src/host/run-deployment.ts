import type { DesiredDeployment, RunSubject } from '../deploy/file/desired.ts';
import type { connectControlRecords } from '../client/records.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import type { Problem } from '../kit/diagnostics/problem.ts';
import type { PackedSource } from '../kit/archive/pack.ts';
import type { SmokeTest } from '../deploy/file/smoke-test.ts';
import type { Graders } from '../contract/grader.ts';
import { steadyClock } from '../kit/clock.ts';
import type { EntryOptions } from '../deploy/file/entry-options.ts';
import type { DeployRunRequest, RunTerms } from '../deploy/machine/deploy-run.ts';
import type { DeployEvent } from '../deploy/machine/deploy-event.ts';
import type { OpenedPlan } from './plan-file.ts';
import type { ReceiptTarget } from './write-receipt.ts';
import { ownFiles } from './written-files.ts';

/** What a run is about, and how it has to prove itself. */
export type SubjectOfRun = RunSubject & Omit<DesiredDeployment, 'desired'>;

/** The configuration of a run, after all input has been read. */
export interface DeployInputs extends Pick<
  DeployRunRequest,
  'workflow' | 'tarball' | 'head' | 'commit' | 'onceFor' | 'expected' | 'journal' | 'kept'
> {
  options: EntryOptions;
  subject: SubjectOfRun;
  userAgent: string;
  /** The plan that it writes, or is bound to. */
  plan?: OpenedPlan | undefined;
  /** Absent: no receipt is written. */
  receipt?: ReceiptTarget | undefined;
  signal: AbortSignal;
  emit: (event: DeployEvent) => void;
  mask: (secret: string) => void;
}

/**
 * How long an agent may be silent (ms): as long as its slowest test allows. Some servers send nothing while a model
 * thinks, and the test's own time bounds the whole answer anyway.
 */
export const maxSilenceMs = (tests: readonly Pick<SmokeTest, 'timeoutMs'>[]): number =>
  Math.max(60_000, ...tests.map(({ timeoutMs }) => timeoutMs));

/** The clients of agents. */
type Agents = Pick<RunTerms, 'agentAt' | 'threadsAt'>;

/** What every run is given of its host and its services. */
export interface Services
  extends
    Agents,
    Pick<
      RunTerms,
      'control' | 'further' | 'lookUpImage' | 'verdictsOf' | 'graders' | 'clock' | 'random' | 'credentials' | 'mask'
    > {
  /** The same for agents that must not see the key. */
  keylessAgents: Agents;
}

/** Connects the clients, deploys, and closes every connection. */
export async function runDeployment(deployRun: DeployInputs): Promise<Outcome> {
  const { options, subject, userAgent: _userAgent, receipt: _receipt, plan, ...inputs } = deployRun;
  const { deploy } = await import('../deploy/machine/deploy.ts');
  return withServices(
    { ...deployRun, smokeTests: subject.smokeTests, modeOf: () => subject.mode },
    async (services) => {
      const notes = [...(subject.notes ?? []), ...(await notesOnBuild(deployRun))];
      const request = { ...runOptionsOf(options), ...subject, ...inputs, ...services, notes };
      const outcome = await deploy({ ...request, binding: plan?.binding });
      return (await plan?.conclude(outcome, inputs.emit)) ?? outcome;
    },
  );
}

/** The options of a run without those of its services. */
export function runOptionsOf(options: EntryOptions) {
  const { baseUrl: _, apiKey: _key, tenantId: _tenant, spelling: _spelling, allowHttp: _http, ...run } = options;
  return run;
}

/** What `withServices` needs: whose services, what is tested, and the receipt of what is done. */
export interface ServiceInputs extends Pick<DeployInputs, 'options' | 'userAgent' | 'receipt' | 'mask'> {
  smokeTests: readonly SmokeTest[];
  /** What the outcome is a receipt of. */
  modeOf: (outcome: Outcome) => RunSubject['mode'];
}

/** Connects the clients for some work, leaves its receipt, and closes every connection. */
export async function withServices(
  { options, userAgent, receipt, mask, smokeTests, modeOf }: ServiceInputs,
  work: (services: Services) => Promise<Outcome>,
): Promise<Outcome> {
  const [{ connectControlService }, { connectAgentServer }, { lookUpImage }] = await Promise.all([
    import('../client/control.ts'),
    import('../client/agent.ts'),
    import('../client/image-registry.ts'),
  ]);
  const { baseUrl, apiKey, tenantId, spelling, allowHttp } = options;
  const settings = { apiKey, tenantId, allowHttp, userAgent };
  const control = connectControlService({ ...settings, baseUrl, spelling });
  let records: ReturnType<typeof connectControlRecords> | undefined;
  const idleMs = maxSilenceMs(smokeTests);
  const agents = new Map<string, ReturnType<typeof connectAgentServer>>();
  const connectedWith = (given: { apiKey?: string | undefined; tenantId?: string | undefined }) => (url: string) => {
    const id = `${given.apiKey === undefined ? 'without' : 'with'} key: ${url}`;
    const agent = agents.get(id) ?? connectAgentServer({ allowHttp, userAgent, ...given, url, idleMs });
    agents.set(id, agent);
    return agent;
  };
  const [agentAt, keylessAgentAt] = [connectedWith(settings), connectedWith({})];
  const { graders, keys, close } = await gradersFor(smokeTests, userAgent);
  const secrets = new Set<string>();
  const startedAt = steadyClock.now();
  try {
    const outcome = await work({
      mask: (secret) => {
        secrets.add(secret);
        mask(secret);
      },
      control,
      further: control,
      verdictsOf: async (...asked) => {
        records ??= (await import('../client/records.ts')).connectControlRecords({ ...settings, baseUrl });
        return records.verdictsOf(...asked);
      },
      agentAt,
      threadsAt: agentAt,
      keylessAgents: { agentAt: keylessAgentAt, threadsAt: keylessAgentAt },
      lookUpImage: (reference, each) => lookUpImage(reference, { userAgent }, each),
      graders,
      clock: steadyClock,
      random: Math.random,
      credentials: [...(apiKey === undefined ? [] : [apiKey]), ...keys],
    });
    if (!receipt || options.dryRun) return outcome;
    const { writeReceipt } = await import('./write-receipt.ts');
    const endedAt = steadyClock.now();
    await writeReceipt(outcome, { mode: modeOf(outcome), baseUrl, startedAt, endedAt, secrets }, receipt);
    return outcome;
  } finally {
    await Promise.all([
      control.close(),
      records?.close(),
      close(),
      ...[...agents.values()].map((agent) => agent.close()),
    ]);
  }
}

/** What a build says of the packages that are at hand. A build that is made warns by itself, and fails some seconds later. */
async function notesOnBuild({ subject, workflow }: DeployInputs): Promise<string[]> {
  if (!('desired' in subject)) return [];
  const { mode, desired } = subject;
  const isUploaded = mode === 'deploy' && desired.source === 'internal_source';
  if (mode !== 'plan' && !isUploaded) return [];
  const { notesOnPackages } = await import('./package-problems.ts');
  const { failures, warnings } = notesOnPackages(desired, workflow);
  return isUploaded ? failures : [...failures, ...warnings];
}

interface ConnectedGraders {
  /** Absent where no test needs one. */
  graders?: Graders;
  /** The values of their keys, which no output may show. */
  keys: readonly string[];
  close: () => Promise<void>;
}

/** Connects the graders of smoke tests, with their keys from the environment. */
export async function gradersFor(tests: readonly SmokeTest[], userAgent: string): Promise<ConnectedGraders> {
  const graded = tests.flatMap(({ expect }) => expect.flatMap((each) => (each.kind === 'graded' ? [each] : [])));
  if (graded.length === 0) return { keys: [], close: async () => undefined };
  const keyOf = (name: string): string | undefined => process.env[name]?.trim();
  const { connectGraders } = await import('../client/grader.ts');
  const graders = connectGraders({ userAgent, keyOf });
  const names = new Set(graded.flatMap(({ grader: { key } }) => key ?? []));
  return { graders, keys: [...names].flatMap((name) => keyOf(name) || []), close: () => graders.close() };
}

/** The folder that is to be uploaded, where there is one; what is wrong with it; or that the step was ended meanwhile. */
export type PackResult =
  { kind: 'packed'; tarball?: PackedSource } | { kind: 'wrong'; problems: Problem[] } | { kind: 'ended' };

/** Packs the folder of a deployment before anything is sent. Loaded only if there is a folder. */
export async function packSourceDir(
  subject: RunSubject,
  options: EntryOptions,
  signal: AbortSignal,
): Promise<PackResult> {
  if (!('desired' in subject) || subject.desired.source !== 'internal_source') return { kind: 'packed' };
  const { desired } = subject;
  if (desired.sourceDir === undefined) return { kind: 'packed' };
  const { packSource } = await import('../kit/archive/pack.ts');
  const { sourceDir: folder, graphConfigPath } = desired;
  try {
    const packed = await packSource({ folder, graphConfigPath, signal, except: ownFiles(options) });
    return packed.ok ? { kind: 'packed', tarball: packed.source } : { kind: 'wrong', problems: packed.problems };
  } catch (error) {
    if (signal.aborted) return { kind: 'ended' };
    throw error;
  }
}

/** How a step ends that was ended while it read the folder. */
export const endedWhilePacking: Outcome = {
  kind: 'interrupted',
  passes: false,
  reason: 'This step was ended before anything was changed.',
  changed: false,
  notes: [],
};
