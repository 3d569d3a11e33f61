import { useLocation } from 'preact-iso';
import { useEffect, useRef, useState } from 'preact/hooks';
import { paths } from '../../paths.ts';
import type { Agent } from './agent-api.ts';
import { ThreadSession } from './thread-session.ts';

const refreshMs = 3_000;

/** The agent of a playground: of a deployment, or of a revision of it that is held before traffic. */
export interface AgentPlace {
  deploymentId: string;
  heldRevisionId?: string | undefined;
}

/** The path of the playground, of a thread in it, or of a run on that thread. */
export function playgroundPath({ deploymentId, heldRevisionId }: AgentPlace, thread?: string, run?: string): string {
  const parts = { revision: heldRevisionId, thread, run };
  const query = new URLSearchParams(
    Object.entries(parts).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return query.size === 0 ? paths.playground(deploymentId) : `${paths.playground(deploymentId)}?${query.toString()}`;
}

/** The session of the thread in the page's URL, and functions to open or create another. */
export function useSession(agent: Agent, place: AgentPlace) {
  const { query, route } = useLocation();
  const { thread: threadId, run: runId } = query;
  const [session, setSession] = useState<ThreadSession>();
  const current = useRef<ThreadSession>(undefined);
  const switchTo = (next: ThreadSession | undefined): void => {
    current.current?.close();
    current.current = next;
    setSession(next);
  };

  useEffect(() => {
    if (current.current?.threadId === threadId) {
      if (runId !== undefined) void current.current?.showRun(runId);
      return;
    }
    const opened = threadId === undefined ? undefined : new ThreadSession(agent, threadId);
    switchTo(opened);
    void opened?.open(runId);
  }, [threadId, runId]);

  useEffect(() => {
    const timer = setInterval(
      () => document.visibilityState === 'visible' && void current.current?.refresh(),
      refreshMs,
    );
    return () => {
      clearInterval(timer);
      current.current?.close();
    };
  }, []);

  // The URL names the shown run, so that it can be shared.
  const shownRunId = session?.run.value?.run_id;
  useEffect(() => {
    if (session && shownRunId !== undefined) route(playgroundPath(place, session.threadId, shownRunId), true);
  }, [session, shownRunId]);

  return {
    session,
    open: (thread: string | undefined) => route(playgroundPath(place, thread)),
    /** Creates a thread for its first run. */
    startThread: async (): Promise<ThreadSession> => {
      const { thread_id } = await agent.createThread();
      const created = new ThreadSession(agent, thread_id);
      switchTo(created);
      route(playgroundPath(place, thread_id));
      return created;
    },
  };
}
