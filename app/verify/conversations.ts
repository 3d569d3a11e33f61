import { randomUUID } from 'node:crypto';
import type { Logger } from '../../src/kit/logger.ts';
import type { Clock } from '../../src/kit/clock.ts';
import { maskOf } from '../../src/contract/masking/mask.ts';
import type { FreeObject } from '../../src/contract/agent/open-word.ts';
import type { ConversationServer } from '../../src/contract/agent/service.ts';
import type { ControlService } from '../../src/contract/control/service.ts';
import {
  checkConversations,
  recordConversations,
  type ConversationCheck,
} from '../../src/deploy/smoke/conversations.ts';
import { notShown, type Judge } from '../../src/deploy/smoke/judge.ts';
import { endOfTests } from '../../src/deploy/smoke/open-test.ts';
import { overriding } from '../../src/kit/overriding.ts';
import { removeThread } from '../../src/deploy/smoke/remove-resources.ts';
import { tryCall } from '../../src/deploy/smoke/try-call.ts';
import { unreadConversations } from '../../src/deploy/rules/conversation-verdict.ts';
import { copyMark } from '../../src/deploy/rules/conversations.ts';
import { concludeAll } from '../../src/deploy/rules/verdict.ts';
import type { NamedVerdict } from '../../src/deploy/rules/verdict-types.ts';
import type { SmokeStepResult } from '../context.ts';
import { type Testing, triesConversations } from '../reconcile/intent.ts';
import { secretsOf } from './deployment-secrets.ts';
import { maxLost, writeProgress, type Progress } from './progress.ts';

interface ConversationTesterOptions {
  clock: Clock;
  control: ControlService;
  threadsAt: (url: string) => ConversationServer;
  judge: Judge;
  log: Logger;
}

/** The key in a copy's metadata of the intent that it was made for. */
const madeFor = 'landfall_intent';
/** How long it is tried to find what is left of copies (ms). */
const findMs = 15_000;

/**
 * Tries copies of the live revision's newest conversations on a held one, once its smoke tests have ended, and concludes.
 * All copies are tried in one step, because nothing of a conversation is stored. That it begins is stored before; each
 * copy has the intent's id in its metadata, so that another process finds and removes those of one that was killed.
 */
export function createConversationTester({ clock, control, threadsAt, judge, log }: ConversationTesterOptions) {
  /** Tries that this process stored and did not begin. */
  const unused = new Set<string>();

  return async function advance(intent: Testing, progress: Progress, signal: AbortSignal): Promise<SmokeStepResult> {
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
    const note = (text: string): void => log.info({ intent: intent.id, deployment: intent.deploymentId }, text);
    const [live, changed] = [hold.live, hold.address].map((url) => marking(threadsAt(url), intent.id));
    if (!live || !changed) return done();
    const { conversations: before } = progress;
    if (before) await removeCopies(live, intent.id, { signal, note });
    if (before && unused.delete(before.id)) {
      const secrets = await secretsOf(intent.deploymentId, { control, clock, signal });
      const check: ConversationCheck = {
        terms: terms.conversations,
        clock,
        signal,
        until: endOfTests(hold.endsAt),
        compare: (sides) => judge.compareStates(sides),
        note,
        redact: secrets ? maskOf(secrets.map(({ value }) => value)) : notShown,
      };
      return done(await checkConversations(await recordConversations(live, check), { changed, live }, check));
    }
    const tries = before?.tries ?? 0;
    if (tries > maxLost)
      return done(unreadConversations('unreachable', 'the process ended before they were tried, several times'));
    const conversations = { id: randomUUID(), tries: tries + 1 };
    unused.add(conversations.id);
    return { kind: 'waiting', state: writeProgress({ ...progress, conversations }), at: clock.now() };
  };

  /** Removes the copies of a process that ended before it did. */
  async function removeCopies(
    server: ConversationServer,
    intentId: string,
    { signal, note }: { signal: AbortSignal; note: (text: string) => void },
  ): Promise<void> {
    const left = (what: string): void => note(`conversations: could not remove ${what}`);
    const search = { metadata: { ...copyMark, [madeFor]: intentId }, limit: 100 };
    const found = await tryCall(server.searchThreads(search, { signal, deadline: clock.now() + findMs }));
    if (!found.ok) return left(`what copies an earlier process left (${found.error.message})`);
    for (const { thread_id: id } of found.value)
      await removeThread(id, `the copy ${id}`, { agent: server, clock, signal, left });
  }
}

/** The server, which marks every copy with the intent that it is made for. */
function marking(server: ConversationServer, intentId: string): ConversationServer {
  const marked = <Request extends { metadata?: FreeObject | undefined }>(request: Request): Request => ({
    ...request,
    metadata: { ...request.metadata, [madeFor]: intentId },
  });
  return overriding<Pick<ConversationServer, 'copyThread' | 'patchThread'>, ConversationServer>(server, {
    copyThread: (id, request, options) => server.copyThread(id, request && marked(request), options),
    patchThread: (id, request, options) => server.patchThread(id, marked(request), options),
  });
}
