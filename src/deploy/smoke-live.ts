import { agentAddress } from '../contract/control/deployment.ts';
import type { Verdict } from '../decide/verdict-types.ts';
import { smoke, unasked } from './smoke.ts';
import type { Story } from './story.ts';

/** Asks the agent that is live the questions of the request, at the address that the deployment tells. */
export async function smokeLive(story: Story): Promise<Verdict> {
  const { smokeTests: tests, agentAt, agentUrl, clock, random, signal } = story.request;
  if (tests.length === 0) return unasked([], 'no-address', '');
  const address = agentUrl ?? (story.known.deployment && agentAddress(story.known.deployment));
  if (address === undefined) return unasked(tests, 'no-address', 'the service does not tell where the agent answers');
  if (!URL.canParse(address)) return unasked(tests, 'no-address', `${address} is no address to ask`);
  story.tell({ kind: 'smoke-began', address, tests: tests.length });
  return smoke({
    tests,
    agent: agentAt(address),
    clock,
    random,
    signal,
    tell: (event) => story.tell(event),
    note: (text) => story.note(text),
    redact: (text) => story.redact(text),
  });
}
