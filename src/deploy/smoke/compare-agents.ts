import type { Clock } from '../../kit/clock.ts';
import type { ConversationTerms } from '../file/conversations.ts';
import { type ComparisonDesign, measures, type SmokeTest } from '../file/smoke-test.ts';
import type { AgentServer, ConversationServer } from '../../contract/agent/service.ts';
import type { ControlService } from '../../contract/control/service.ts';
import type { Graders } from '../../contract/grader.ts';
import { attributeVerdict } from '../rules/verdict-subject.ts';
import { concludeAll } from '../rules/verdict.ts';
import type { Verdict } from '../rules/verdict-types.ts';
import type { AgentSearch, FoundAgents, KeptAnswers } from './compared-agents.ts';
import { converse, newCourse, withVerdict } from './converse.ts';
import type { DeployEvent } from '../machine/deploy-event.ts';
import { smoke, unprovenVerdict } from './smoke.ts';
import { tryCall } from './try-call.ts';

type Server = AgentServer & ConversationServer;

/** Two agents, what they are compared by, and the dependencies. */
export interface AgentComparison {
  live: { kind: 'server'; server: Server } | KeptAnswers;
  changed: Server;
  tests: readonly SmokeTest[];
  /** The most answers of each agent to one test. */
  tries: number;
  conversations: ConversationTerms | undefined;
  /** When the tests must have come to an end (ms since the epoch). */
  until: number;
  graders: Graders | undefined;
  clock: Clock;
  random: () => number;
  signal: AbortSignal;
  note: (text: string) => void;
  emit: (event: DeployEvent) => void;
  redact: (text: string) => string;
}

/** How the tests are compared, whatever the file says of each: all measures decide. */
const beside = { drop: 0.3, decideBy: measures } satisfies Partial<ComparisonDesign>;
/** How long an answer takes depends on the hour. */
const keptBefore = { ...beside, decideBy: measures.filter((each) => each !== 'first-event' && each !== 'total') };

/** Sends the tests to both agents in turns, and tries conversations of the live one on the other. */
export async function compareAgents(comparison: AgentComparison): Promise<Verdict> {
  const { live, changed, tests, conversations, note } = comparison;
  if (live.kind === 'kept') {
    if (conversations) note(`conversations: none is tried, for revision ${live.revisionId} does not serve`);
    return compareWithKept(live, comparison);
  }
  const tested = await smoke({
    ...comparison,
    live: live.server,
    agent: changed,
    tests: asCompared(tests, beside, comparison),
  });
  if (!conversations) return tested;
  const check = { ...comparison, terms: conversations };
  return withVerdict(tested, await converse(newCourse(), { changed, live: live.server }, check), {});
}

const asCompared = (
  tests: readonly SmokeTest[],
  design: Pick<ComparisonDesign, 'drop' | 'decideBy'>,
  { tries }: Pick<AgentComparison, 'tries'>,
): SmokeTest[] =>
  tests.map((test) => ({ ...test, series: { kind: 'live', atOnce: 4, ...design, tries, tests: tests.length } }));

/** Sends the tests to the new agent only: kept answers stand for the live one. */
async function compareWithKept({ revisionId, answers }: KeptAnswers, comparison: AgentComparison): Promise<Verdict> {
  const tests = comparison.tests.filter((test) => answers.has(test));
  const before = new Map([...answers].map(([{ name }, { samples }]) => [name, samples]));
  const { live: _, ...dependencies } = comparison;
  const tested = await smoke({
    ...dependencies,
    agent: comparison.changed,
    before,
    tests: asCompared(tests, keptBefore, comparison),
  });
  const missing = comparison.tests.filter((test) => !answers.has(test));
  const why = `no answers of revision ${revisionId} to this test are kept`;
  return concludeAll([...tested.tests, ...unprovenVerdict(missing, 'unreachable', why).tests]);
}

/** The verdict, unless another revision may have answered in the place of the one that was live when the tests began. */
export async function attributedTo(
  verdict: Verdict,
  { live, changed, deployment }: Extract<FoundAgents, { ok: true }>,
  { control, signal, note }: Pick<AgentSearch, 'signal' | 'note'> & { control: Pick<ControlService, 'getDeployment'> },
): Promise<Verdict> {
  const tested = [live, changed].find(({ kind }) => kind === 'live');
  if (tested?.kind !== 'live' || !deployment) return verdict;
  const current = await tryCall(control.getDeployment(deployment.id, { signal }));
  if (current.ok) {
    return attributeVerdict(verdict, { tested: tested.revisionId, active: current.value.active_revision_id });
  }
  note(`it is not known whether revision ${tested.revisionId} is still live: ${current.error.message}`);
  return verdict;
}
