import type { SmokeTest } from '../config/smoke-test.ts';
import { agentAddress } from '../contract/control/deployment.ts';
import { answersBefore } from '../planning/against-live.ts';
import { asJudged } from '../planning/series.ts';
import type { Evidence } from '../planning/verdict-types.ts';
import type { DeployRun } from './deploy-run.ts';
import { gradeAnswer } from './grade-answer.ts';
import { sendTestRequest } from './send-test-request.ts';

/**
 * Sends the tests that compare to the live agent, before a change replaces it: where the service can't hold the new
 * revision, both never answer at the same time. Without a live agent there is nothing to compare with.
 */
export async function measureLive(run: DeployRun): Promise<void> {
  const { smokeTests, wait, agentUrl, agentAt } = run.request;
  const { formerLive, formerDeployment, before } = run.known;
  const tests = smokeTests.filter(({ series }) => series?.kind === 'live');
  const address = formerDeployment && (agentUrl ?? agentAddress(formerDeployment));
  if (!wait || before || tests.length === 0 || !formerLive || !address || !URL.canParse(address)) return;
  const answers: [string, readonly Evidence[]][] = [];
  run.emit({ kind: 'measuring-live', revisionId: formerLive.id, tests: tests.length });
  const agent = agentAt(address);
  for (const test of tests) answers.push([test.name, await measure(test, { agent, run })]);
  run.known.before = new Map(answers);
}

async function measure(
  test: SmokeTest,
  { agent, run }: { agent: ReturnType<DeployRun['request']['agentAt']>; run: DeployRun },
): Promise<readonly Evidence[]> {
  const { clock, signal, graders } = run.request;
  const redact = (text: string) => run.redact(text);
  const send = async () =>
    gradeAnswer(test, await sendTestRequest(test, { agent, clock, signal, left }), { graders, signal, redact });
  const left = (what: string) => run.note(`smoke test ${test.name} could not remove ${what}`);
  const wanted = answersBefore(test);
  const answers: Evidence[] = [];
  let useless = 0;
  while (answers.length < wanted && useless < test.attempts) {
    const count = Math.min(test.series?.atOnce ?? 1, wanted - answers.length);
    const sent = Array.from({ length: count }, send);
    await Promise.allSettled(sent);
    for (const evidence of await Promise.all(sent)) {
      if (evidence.kind === 'unreachable') useless += 1;
      else answers.push(asJudged(test, evidence));
    }
  }
  return answers;
}
