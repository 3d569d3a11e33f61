import { agentAddress } from '../contract/control/deployment.ts';
import type { Verdict } from '../decide/verdict-types.ts';
import { smoke, unasked } from './smoke.ts';
import type { Story } from './story.ts';

/** Asks the agent that is live the questions of the request, at the address that the deployment tells. */
export async function smokeLive(story: Story): Promise<Verdict> {
  const { smokeTests: tests, agentAt, agentUrl, clock, random, signal } = story.request;
  if (tests.length === 0) return unasked([], '');
  const address = agentUrl ?? (story.known.deployment && agentAddress(story.known.deployment));
  if (address === undefined) return unasked(tests, 'the service does not tell where the agent answers: give agent-url');
  if (!URL.canParse(address)) return unasked(tests, `${address} is no address to ask: give agent-url`);
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
