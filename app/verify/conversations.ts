import type { Logger } from '../../src/kit/logger.ts';
import type { Clock } from '../../src/kit/clock.ts';
import { maskOf } from '../../src/contract/masking/mask.ts';
import type { ConversationTerms } from '../../src/deploy/file/conversations.ts';
import type { ConversationServer } from '../../src/contract/agent/service.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import { type HeldCheck, newCourse, withConversations } from '../../src/deploy/smoke/converse.ts';
import { notShown, type Judge } from '../../src/deploy/smoke/judge.ts';
import { endOfTests } from '../../src/deploy/smoke/open-test.ts';
import type { KeepSmoke, SmokeStepResult } from '../context.ts';
import { type HeldRevision, type Testing, triesConversations } from '../reconcile/intent.ts';
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
    const { hold, id, deploymentId } = intent;
    const { conversations: terms } = intent.terms;
    const course = { ...(progress.conversations ?? newCourse()), id };
    const triedBy = async (held: HeldRevision, of: ConversationTerms): Promise<HeldCheck> => {
      const secrets = await secretsOf(deploymentId, { control, clock, signal });
      return {
        changed: threadsAt(held.address),
        live: held.live === undefined ? undefined : threadsAt(held.live),
        terms: of,
        clock,
        signal,
        until: endOfTests(held.endsAt),
        compare: (sides) => judge.compareStates(sides),
        note: (text) => log.info({ intent: id, deployment: deploymentId }, text),
        redact: secrets ? maskOf(secrets.map(({ value }) => value)) : notShown,
        keep: (conversations) => keep(writeProgress({ ...progress, conversations })),
      };
    };
    const areTried = hold && terms && triesConversations(intent) ? () => triedBy(hold, terms) : undefined;
    const verdict = await withConversations(progress.verdicts, course, areTried);
    return { kind: 'done', verdict, compared: progress.compared };
  };
