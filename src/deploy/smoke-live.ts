import { agentAddress } from '../contract/control/deployment.ts';
import type { Verdict } from '../planning/verdict-types.ts';
import { smoke, unasked } from './smoke.ts';
import type { DeployRun } from './deploy-run.ts';

/** Runs the smoke tests of the request against the live agent, at the address that the deployment reports. */
export async function smokeLive(run: DeployRun): Promise<Verdict> {
  const { smokeTests: tests, agentAt, agentUrl, clock, random, signal } = run.request;
  if (tests.length === 0) return unasked([], 'no-address', '');
  const address = agentUrl ?? (run.known.deployment && agentAddress(run.known.deployment));
  if (address === undefined) return unasked(tests, 'no-address', 'the service does not report where the agent answers');
  if (!URL.canParse(address)) return unasked(tests, 'no-address', `${address} is no address to ask`);
  run.emit({ kind: 'smoke-began', address, tests: tests.length });
  return smoke({
    tests,
    agent: agentAt(address),
    clock,
    random,
    signal,
    emit: (event) => run.emit(event),
    note: (text) => run.note(text),
    redact: (text) => run.redact(text),
  });
}
