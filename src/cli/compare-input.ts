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
import { keyProblems } from './issue-key.ts';

/** The input of `landfall compare`. */
export interface CompareRequest extends Pick<EntryOptions, 'apiKey' | 'tenantId' | 'allowHttp'> {
  live: RequestedAgent;
  changed: RequestedAgent;
  /** The control service and the deployment; undefined if both agents are given by their address. */
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
  const needsService = live.kind !== 'address' || changed.kind !== 'address';
  const entry = needsService && problems.length === 0 ? readEntryOptions(inputs) : undefined;
  if (entry?.ok === false) problems.push(...entry.problems);
  if (entry) problems.push(...keyProblems(inputs));
  const tries = inputs['tries'] === undefined ? liveTries.usual : Number(inputs['tries']);
  if (!Number.isInteger(tries) || tries < liveTries.fewest || tries > liveTries.most) {
    add('tries', `tries is a whole number from ${liveTries.fewest} to ${liveTries.most}`);
  }
  const { deployment, tests, conversations, problems: testProblems } = readTests(inputs, needsService);
  const { baseUrl, spelling } = entry?.ok ? entry.options : { baseUrl: '', spelling: 'auto' as const };
  const tenantId = options.text('tenant-id');
  return {
    request: {
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(tenantId === undefined ? {} : { tenantId }),
      allowHttp,
      live,
      changed,
      service: needsService ? { baseUrl, spelling, deployment } : undefined,
      tries,
      tests,
      conversations,
    },
    problems: [...problems, ...testProblems],
  };
}

const defaultAgents = { live: 'live', new: 'held' } as const;

function readAgent(
  name: 'live' | 'new',
  inputs: Inputs,
  { allowHttp, add }: { allowHttp: boolean; add: (name: string, message: string) => void },
): RequestedAgent {
  const text = inputs[name]?.trim() ?? '';
  if (text === '') {
    if (!inputs['base-url']?.trim()) {
      add(
        name,
        `${name} is missing: give the address of an agent, or the control service (base-url) and the deployment whose ${defaultAgents[name]} revision it is`,
      );
    }
    return { kind: 'usual' };
  }
  if (isUuid(text)) return { kind: 'revision', id: text.toLowerCase() };
  const parsed = readAddress(text, { allowHttp });
  if (!parsed.ok) {
    const isAddress = URL.canParse(text);
    add(name, isAddress ? `${name}: ${parsed.problem}` : `${name} is neither an address nor the id of a revision`);
  }
  return { kind: 'address', address: text };
}

interface ReadTests {
  deployment: Named;
  tests: readonly SmokeTest[];
  conversations?: ConversationTerms | undefined;
  problems: Problem[];
}

function readTests(inputs: Inputs, needsService: boolean): ReadTests {
  const { deployment, problems } = readDeployment(inputs, needsService);
  if (problems.length > 0) return { deployment: {}, tests: [], problems };
  const { smokeTests: tests = [], conversations, name, deploymentId } = deployment ?? {};
  const noTests = inputProblem('smoke-tests', 'there is no smoke test to compare the agents by');
  return {
    deployment: { name, deploymentId },
    tests,
    conversations,
    problems: [...(tests.length > 0 || conversations ? [] : [noTests]), ...graderKeyProblems(tests, inputs)],
  };
}

const deploymentInputs = ['config', 'deployment', 'smoke-tests', 'conversations', 'name', 'deployment-id'];

/** The one deployment that the inputs and the deploy file name, or every problem with them. */
function readDeployment(
  inputs: Inputs,
  needsService: boolean,
): { deployment?: RequestedDeployment; problems: Problem[] } {
  const path = inputs['config']?.trim() || defaultConfigPath;
  const file = readTextFile(path);
  if (file.kind === 'unreadable') return { problems: [file.problem] };
  const deploymentTexts = Object.fromEntries(
    Object.entries(inputs).filter(([name]) => deploymentInputs.includes(name)),
  );
  const read = readRequested({
    // Without a control service, a name is required but not used.
    inputs: file.kind === 'read' || needsService ? deploymentTexts : { name: 'compared', ...deploymentTexts },
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
