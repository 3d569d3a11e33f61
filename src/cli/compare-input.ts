import { readTextFile, workspaceCases } from '../host/workspace.ts';
import { defaultConfigPath } from '../deploy/file/deploy-file.ts';
import { type EntryOptions, readEntryOptions } from '../deploy/file/entry-options.ts';
import { graderKeyProblems } from '../host/read-request.ts';
import type { Inputs } from '../deploy/file/input-table.ts';
import { inputProblem } from '../deploy/file/inputs.ts';
import { OptionReader } from '../deploy/file/option-reader.ts';
import type { RequestedDeployment } from '../deploy/file/read-draft.ts';
import { readRequested } from '../deploy/file/read-desired.ts';
import type { ConversationTerms } from '../deploy/file/conversations.ts';
import type { SmokeTest } from '../deploy/file/smoke-test.ts';
import { liveTries } from '../deploy/file/written-series.ts';
import { readAddress } from '../kit/base-address.ts';
import { isUuid } from '../kit/uuid.ts';
import type { RequestedAgent } from '../deploy/smoke/compared-agents.ts';
import type { Named } from '../deploy/file/desired.ts';
import type { Problem } from '../kit/diagnostics/problem.ts';
import { keyless } from './problems.ts';

/** What `landfall compare` was given. */
export interface CompareRequest extends Pick<EntryOptions, 'apiKey' | 'tenantId' | 'allowHttp'> {
  live: RequestedAgent;
  changed: RequestedAgent;
  /** The control service and the deployment; undefined where two addresses are given. */
  service: (Pick<EntryOptions, 'baseUrl' | 'spelling'> & { deployment: Named }) | undefined;
  tries: number;
  tests: readonly SmokeTest[];
  conversations: ConversationTerms | undefined;
}

/** Reads the options and the deploy file, or every problem with them. */
export function readCompareRequest(inputs: Inputs): { request: CompareRequest; problems: Problem[] } {
  const options = new OptionReader(inputs);
  const allowHttp = options.flag('allow-http');
  const apiKey = options.text('api-key');
  const problems: Problem[] = [...options.problems];
  const add = (name: string, message: string) => void problems.push(inputProblem(name, message));
  const live = readAgent('live', inputs, { allowHttp, add });
  const changed = readAgent('new', inputs, { allowHttp, add });
  const isOfService = live.kind !== 'address' || changed.kind !== 'address';
  const entry = isOfService && problems.length === 0 ? readEntryOptions(inputs) : undefined;
  if (entry?.ok === false) problems.push(...entry.problems);
  if (entry && apiKey === undefined) add('api-key', keyless);
  const tries = inputs['tries'] === undefined ? liveTries.usual : Number(inputs['tries']);
  if (!Number.isInteger(tries) || tries < liveTries.fewest || tries > liveTries.most) {
    add('tries', `tries is a whole number from ${liveTries.fewest} to ${liveTries.most}`);
  }
  const { deployment, tests, conversations, problems: ofTests } = readTests(inputs, isOfService);
  const { baseUrl, spelling } = entry?.ok ? entry.options : { baseUrl: '', spelling: 'auto' as const };
  const tenantId = options.text('tenant-id');
  return {
    request: {
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(tenantId === undefined ? {} : { tenantId }),
      allowHttp,
      live,
      changed,
      service: isOfService ? { baseUrl, spelling, deployment } : undefined,
      tries,
      tests,
      conversations,
    },
    problems: [...problems, ...ofTests],
  };
}

const usualAgents = { live: 'live', new: 'held' } as const;

function readAgent(
  name: 'live' | 'new',
  inputs: Inputs,
  { allowHttp, add }: { allowHttp: boolean; add: (name: string, message: string) => void },
): RequestedAgent {
  const written = inputs[name]?.trim() ?? '';
  if (written === '') {
    if (!inputs['base-url']?.trim()) {
      add(
        name,
        `${name} is missing: give the address of an agent, or the control service (base-url) and the deployment whose ${usualAgents[name]} revision it is`,
      );
    }
    return { kind: 'usual' };
  }
  if (isUuid(written)) return { kind: 'revision', id: written.toLowerCase() };
  const parsed = readAddress(written, { allowHttp });
  if (!parsed.ok) {
    const isAddress = URL.canParse(written);
    add(name, isAddress ? `${name}: ${parsed.problem}` : `${name} is neither an address nor the id of a revision`);
  }
  return { kind: 'address', address: written };
}

interface ReadTests {
  deployment: Named;
  tests: readonly SmokeTest[];
  conversations?: ConversationTerms | undefined;
  problems: Problem[];
}

function readTests(inputs: Inputs, isOfService: boolean): ReadTests {
  const { deployment, problems } = readDeployment(inputs, isOfService);
  if (problems.length > 0) return { deployment: {}, tests: [], problems };
  const { smokeTests: tests = [], conversations, name, deploymentId } = deployment ?? {};
  const nothing = inputProblem('smoke-tests', 'there is no smoke test to compare the agents by');
  return {
    deployment: { name, deploymentId },
    tests,
    conversations,
    problems: [...(tests.length > 0 || conversations ? [] : [nothing]), ...graderKeyProblems(tests, inputs)],
  };
}

const deploymentInputs = ['config', 'deployment', 'smoke-tests', 'conversations', 'name', 'deployment-id'];

/** The one deployment that the inputs and the deploy file name, or every problem with them. */
function readDeployment(
  inputs: Inputs,
  isOfService: boolean,
): { deployment?: RequestedDeployment; problems: Problem[] } {
  const path = inputs['config']?.trim() || defaultConfigPath;
  const file = readTextFile(path);
  if (file.kind === 'unreadable') return { problems: [file.problem] };
  const written = Object.fromEntries(Object.entries(inputs).filter(([name]) => deploymentInputs.includes(name)));
  const read = readRequested({
    // Between two addresses the tests are of no deployment, and need no name of one.
    inputs: file.kind === 'read' || isOfService ? written : { name: 'compared', ...written },
    ...(file.kind === 'read' ? { file: { text: file.text, path } } : {}),
    cases: workspaceCases,
  });
  if (!read.ok) return { problems: read.problems };
  const [deployment, ...more] = read.deployments;
  if (more.length > 0) {
    const message = 'the deploy file has more than one deployment: choose one with `deployment`';
    return { problems: [inputProblem('deployment', message)] };
  }
  return { ...(deployment ? { deployment } : {}), problems: [] };
}

/** What `landfall discard` was given. */
export interface DiscardRequest extends Pick<
  EntryOptions,
  'apiKey' | 'tenantId' | 'allowHttp' | 'baseUrl' | 'spelling'
> {
  deployment: Named;
  /** Undefined: the one that is held. */
  revision: string | undefined;
}

/** Reads the options of `landfall discard`, or every problem with them. */
export function readDiscardRequest(
  inputs: Inputs,
): { ok: true; request: DiscardRequest } | { ok: false; problems: Problem[] } {
  const entry = readEntryOptions(inputs);
  const { deployment, problems: ofFile } = readDeployment(inputs, true);
  const revision = inputs['revision']?.trim().toLowerCase();
  const problems = [...(entry.ok ? [] : entry.problems), ...ofFile];
  if (!inputs['api-key']?.trim()) problems.push(inputProblem('api-key', keyless));
  if (revision !== undefined && !isUuid(revision)) {
    problems.push(inputProblem('revision', 'revision is not the id of a revision'));
  }
  if (!entry.ok || problems.length > 0) return { ok: false, problems };
  const { name, deploymentId } = deployment ?? {};
  return { ok: true, request: { ...entry.options, deployment: { name, deploymentId }, revision } };
}
