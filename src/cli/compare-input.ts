import { workspaceCases } from '../action/workspace-cases.ts';
import { defaultConfigPath } from '../config/deploy-file.ts';
import { type EntryOptions, readEntryOptions } from '../config/entry-options.ts';
import { graderKeyProblems } from '../config/grader-keys.ts';
import type { Inputs } from '../config/input-table.ts';
import { inputProblem } from '../config/inputs.ts';
import { OptionReader } from '../config/option-reader.ts';
import { readRequested } from '../config/read-desired.ts';
import type { ConversationTerms } from '../config/conversations.ts';
import type { SmokeTest } from '../config/smoke-test.ts';
import { liveTries } from '../config/written-series.ts';
import { readAddress } from '../contract/base-address.ts';
import { isUuid } from '../contract/uuid.ts';
import type { RequestedAgent } from '../deploy/compared-agents.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { keyless, readTextFile } from './problems.ts';

/** What `landfall compare` was given. */
export interface CompareRequest extends Pick<EntryOptions, 'apiKey' | 'tenantId' | 'allowHttp'> {
  live: RequestedAgent;
  changed: RequestedAgent;
  /** The control service and the deployment; undefined where two addresses are given. */
  service: (Pick<EntryOptions, 'baseUrl' | 'spelling'> & { deployment: Identity }) | undefined;
  tries: number;
  tests: readonly SmokeTest[];
  conversations: ConversationTerms | undefined;
}

interface Identity {
  name?: string | undefined;
  deploymentId?: string | undefined;
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
  deployment: Identity;
  tests: readonly SmokeTest[];
  conversations?: ConversationTerms | undefined;
  problems: Problem[];
}

const deploymentInputs = ['config', 'deployment', 'smoke-tests', 'conversations', 'name', 'deployment-id'];

function readTests(inputs: Inputs, isOfService: boolean): ReadTests {
  const refused = (problems: Problem[]): ReadTests => ({ deployment: {}, tests: [], problems });
  const path = inputs['config']?.trim() || defaultConfigPath;
  const file = readTextFile(path);
  if (file.kind === 'unreadable') return refused([file.problem]);
  const written = Object.fromEntries(Object.entries(inputs).filter(([name]) => deploymentInputs.includes(name)));
  const read = readRequested({
    // Between two addresses the tests are of no deployment, and need no name of one.
    inputs: file.kind === 'read' || isOfService ? written : { name: 'compared', ...written },
    ...(file.kind === 'read' ? { file: { text: file.text, path } } : {}),
    cases: workspaceCases,
  });
  if (!read.ok) return refused(read.problems);
  const [deployment, ...more] = read.deployments;
  if (more.length > 0) {
    const message = 'the deploy file has more than one deployment: choose one with `deployment`';
    return refused([inputProblem('deployment', message)]);
  }
  const { smokeTests: tests = [], conversations, name, deploymentId } = deployment ?? {};
  const nothing = inputProblem('smoke-tests', 'there is no smoke test to compare the agents by');
  return {
    deployment: { name, deploymentId },
    tests,
    conversations,
    problems: [...(tests.length > 0 || conversations ? [] : [nothing]), ...graderKeyProblems(tests, inputs)],
  };
}
