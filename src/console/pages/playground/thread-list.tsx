import { useEffect, useMemo, useState } from 'preact/hooks';
import { useList } from '../../api/use-list.ts';
import { threadStatuses } from '../../../contract/agent/thread.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { ErrorNotice, Loading } from '../../parts/notices.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { shownText } from '../../parts/untrusted.tsx';
import type { Agent } from './agent-api.ts';
import { hasText, titleFieldsOf, toThreadQuery, type ListedThread } from './thread-query.ts';
import type { ThreadSession } from './thread-session.ts';
import { playgroundPath, type AgentPlace } from './use-session.ts';
import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/field.tsx';

interface ThreadListProps {
  agent: Agent;
  place: AgentPlace;
  /** The JSON schema of the graph's input, whose text fields name the threads without messages. */
  inputSchema: unknown;
  current: ThreadSession | undefined;
  onOpen: (threadId: string | undefined) => void;
}

const labels: Readonly<Record<string, readonly [label: string, tone: Tone]>> = {
  idle: ['Idle', 'idle'],
  busy: ['Running', 'busy'],
  interrupted: ['Interrupted', 'warn'],
  error: ['Failed', 'bad'],
};
const labelOf = (status: string): readonly [label: string, tone: Tone] => labels[status] ?? [status, 'idle'];
const refreshMs = 5_000;
const titleOf = ({ title, threadId }: ListedThread): string => title ?? `Thread ${threadId.slice(0, 8)}`;

/** Lists, searches, opens and deletes the threads of the agent, newest first. */
export function ThreadList({ agent, place, inputSchema, current, onOpen }: ThreadListProps) {
  const [search, setSearch] = useState('');
  const [status, setStatus] = useState('');
  const [deleted, setDeleted] = useState<ListedThread>();
  const { query, text } = toThreadQuery(search);
  const titleFields = useMemo(() => titleFieldsOf(inputSchema), [inputSchema]);
  const { entries, error, hasMore, loadMore, reload } = useList(
    JSON.stringify([query, titleFields, status]),
    ({ threadId }: ListedThread) => threadId,
    ({ limit, offset }, signal) => {
      const wanted = threadStatuses.find((each) => each === status);
      return agent.searchThreads({ ...query, titleFields, status: wanted, limit, offset }, signal);
    },
    { everyMs: refreshMs, maxLimit: 100, maxPages: Infinity },
  );
  // Show a run that starts or ends on the open thread without delay.
  useEffect(() => void (entries && reload()), [current?.run.value?.run_id, current?.isFollowing.value]);
  const [shown, setShown] = useState(entries);
  // A new search loads again. The previous list stays until then.
  if (entries && entries !== shown) setShown(entries);
  const threads = shown?.filter((thread) => hasText(thread, text));
  return (
    <section class="surface stack tight playground-threads" aria-label="Threads">
      <div class="row row-split">
        <h2>Threads</h2>
        <Button onClick={() => onOpen(undefined)}>New thread</Button>
      </div>
      <input
        type="search"
        aria-label="Search threads"
        placeholder="Text, id or user=ada"
        title="Text of the first message or input, an id, key=value for metadata, or values.key=value for the state"
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
      />
      <Select
        aria-label="Status"
        value={status}
        none="All statuses"
        options={threadStatuses.map((value) => ({ value, label: labelOf(value)[0] }))}
        onChange={setStatus}
      />
      {error && <ErrorNotice error={error} retry={reload} />}
      {!threads && !error && <Loading what="threads" />}
      {threads?.length === 0 && (
        <p class="muted">
          {search === '' && status === ''
            ? 'No threads yet. Your first message starts one.'
            : 'No thread matches. Change the search.'}
        </p>
      )}
      <ul class="plain playground-thread-items">
        {threads?.map((thread) => (
          <li key={thread.threadId} class="line">
            <a
              class="choice"
              href={playgroundPath(place, thread.threadId)}
              aria-current={thread.threadId === current?.threadId ? 'true' : undefined}
            >
              <bdi class="cut">{shownText(titleOf(thread), 80)}</bdi>
              <span class="row small">
                <Badge tone={labelOf(thread.status)[1]}>{shownText(labelOf(thread.status)[0], 20)}</Badge>
                <TimeAgo at={thread.updatedAt} />
              </span>
            </a>
            <Button kind="icon" label={`Delete ${shownText(titleOf(thread), 60)}`} onClick={() => setDeleted(thread)}>
              ×
            </Button>
          </li>
        ))}
      </ul>
      {hasMore && <Button onClick={() => void loadMore()}>Show more</Button>}
      {deleted && (
        <ConfirmDialog
          title="Delete the thread"
          action="Delete"
          isDangerous
          onConfirm={() => agent.deleteThread(deleted.threadId)}
          done="The thread is deleted."
          onDone={() => {
            if (deleted.threadId === current?.threadId) onOpen(undefined);
            return reload();
          }}
          onClose={() => setDeleted(undefined)}
        >
          <p>
            “<bdi>{shownText(titleOf(deleted), 80)}</bdi>” is deleted with its states and runs. A run on it is
            cancelled. This can't be undone.
          </p>
        </ConfirmDialog>
      )}
    </section>
  );
}
