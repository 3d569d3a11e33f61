import type { Logger } from '../../src/kit/logger.ts';
import type { Clock } from '../../src/kit/clock.ts';
import { maskOf } from '../../src/contract/masking/mask.ts';
import type { ConversationServer } from '../../src/contract/agent/service.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { converse, newCourse } from '../../src/deploy/smoke/converse.ts';
import { notShown, type Judge } from '../../src/deploy/smoke/judge.ts';
import { endOfTests } from '../../src/deploy/smoke/open-test.ts';
import { unreadConversations } from '../../src/deploy/rules/conversation-verdict.ts';
import { concludeAll } from '../../src/deploy/rules/verdict.ts';
import type { NamedVerdict } from '../../src/deploy/rules/verdict-types.ts';
import type { KeepSmoke, SmokeStepResult } from '../context.ts';
import { type Testing, triesConversations } from '../reconcile/intent.ts';
import { secretsOf } from './deployment-secrets.ts';
import { writeProgress, type Progress } from './progress.ts';

interface ConversationTesterOptions {
  clock: Clock;
  control: ControlService;
  threadsAt: (url: string) => ConversationServer;
  judge: Judge;
  log: Logger;
}

/**
 * Tries copies of the live revision's newest conversations on a held one, once its smoke tests have ended, and concludes.
 * How far they are is stored after each turn, and nothing that was said in them: another process reads that again.
 */
export const createConversationTester =
  ({ clock, control, threadsAt, judge, log }: ConversationTesterOptions) =>
  async (intent: Testing, progress: Progress, signal: AbortSignal, keep: KeepSmoke): Promise<SmokeStepResult> => {
    const done = (tested?: NamedVerdict): SmokeStepResult => ({
      kind: 'done',
      verdict: concludeAll([...progress.verdicts, ...(tested ? [tested] : [])]),
      compared: progress.compared,
    });
    const { hold, terms } = intent;
    if (!hold || !terms.conversations || !triesConversations(intent)) return done();
    if (concludeAll(progress.verdicts).kind === 'failed') return done();
    if (hold.live === undefined)
      return done(unreadConversations('no-address', 'the service does not report where the live revision answers'));
    const secrets = await secretsOf(intent.deploymentId, { control, clock, signal });
    const course = { ...(progress.conversations ?? newCourse()), id: intent.id };
    const revisions = { changed: threadsAt(hold.address), live: threadsAt(hold.live) };
    const tested = await converse(course, revisions, {
      terms: terms.conversations,
      clock,
      signal,
      until: endOfTests(hold.endsAt),
      compare: (sides) => judge.compareStates(sides),
      note: (text) => log.info({ intent: intent.id, deployment: intent.deploymentId }, text),
      redact: secrets ? maskOf(secrets.map(({ value }) => value)) : notShown,
      keep: (conversations) => keep(writeProgress({ ...progress, conversations })),
    });
    return done(tested);
  };
