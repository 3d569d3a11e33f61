import { useLocation } from 'preact-iso';
import { useEffect, useState } from 'preact/hooks';
import { apiKeysList, auditList, type AuditList } from '../../../contract/control/api-key.ts';
import { allEntriesOf } from '../../../contract/control/pages.ts';
import { messageOf } from '../../../kit/errors.ts';
import { call } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { Empty, ErrorNotice, Loading } from '../../parts/notices.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { announce } from '../../parts/toasts.tsx';
import { shownText, Untrusted } from '../../parts/untrusted.tsx';
import { paths } from '../../paths.ts';
import { changedFieldText } from '../deployment/cause.ts';
import { actorLabel, auditedOperations, auditFilter, operationLabel, subjectText, type AuditFilter } from './audit.ts';
import { Button } from '../../parts/button.tsx';

const pageSize = 50;

const readPage = (filter: AuditFilter, before: string | undefined, signal?: AbortSignal): Promise<AuditList> =>
  call('GET', 'v1/audit', auditList, { query: { limit: pageSize, before, ...filter }, ...(signal ? { signal } : {}) });

/** Who changed what, newest first. Its address keeps the filters. */
export function AuditLog() {
  const { query, route } = useLocation();
  const filter = auditFilter(query);
  const key = JSON.stringify(filter);
  const { data, error, reload } = useLoaded(key, (signal) => readPage(filter, undefined, signal), { everyMs: 15_000 });
  const older = useOlder(filter, key, data);
  const show = (change: Partial<Record<keyof AuditFilter, string>>): void => {
    const next = Object.entries({ ...filter, ...change }).filter((entry) => entry[1]);
    route(`${paths.workspace('audit')}?${new URLSearchParams(next.map(([name, value]) => [name, value ?? '']))}`, true);
  };
  const records = [...(data?.resources ?? []), ...older.records];
  return (
    <>
      <Filters filter={filter} show={show} />
      {error && <ErrorNotice error={error} retry={reload} />}
      {!data && !error && <Loading what="the audit log" />}
      {data && records.length === 0 && (
        <Empty title="No changes">
          <p>Every change that is made with a key, by the operator or by the service itself appears here.</p>
        </Empty>
      )}
      {records.length > 0 && <AuditTable records={records} />}
      {older.next !== null && (
        <p class="workspace-more">
          <Button aria-disabled={older.isBusy} onClick={() => void older.load()}>
            Load older changes
          </Button>
        </p>
      )}
    </>
  );
}

/** The pages behind the first one, until the filter changes. */
function useOlder(filter: AuditFilter, key: string, first: AuditList | undefined) {
  const [pages, setPages] = useState<{ key: string; first: AuditList; later: AuditList[] }>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => setPages(undefined), [key]);
  const kept = pages?.key === key ? pages : undefined;
  const next = kept ? (kept.later.at(-1)?.next_before ?? null) : (first?.next_before ?? null);
  const load = async (): Promise<void> => {
    if (isBusy || next === null || !first) return;
    setBusy(true);
    try {
      const page = await readPage(filter, next);
      setPages((former) =>
        former?.key === key ? { ...former, later: [...former.later, page] } : { key, first, later: [page] },
      );
    } catch (error) {
      announce(messageOf(error), 'failed');
    }
    setBusy(false);
  };
  // Entries that the polled first page has lost are only in its copy from when the later pages were loaded.
  const shown = new Set(first?.resources.map(({ id }) => id));
  const records = kept
    ? [kept.first, ...kept.later].flatMap(({ resources }) => resources).filter(({ id }) => !shown.has(id))
    : [];
  return { records, next, isBusy, load };
}

interface FilterProps {
  filter: AuditFilter;
  show: (change: Partial<Record<keyof AuditFilter, string>>) => void;
}

function Filters({ filter, show }: FilterProps) {
  const keys = useLoaded('keys', (signal) =>
    allEntriesOf((query) => call('GET', 'v1/api-keys', apiKeysList, { query, signal })),
  );
  return (
    <search class="workspace-filters">
      <select
        aria-label="Kind of change"
        value={filter.operation ?? ''}
        onChange={(event) => show({ operation: event.currentTarget.value })}
      >
        <option value="">All changes</option>
        {auditedOperations.map((operation) => (
          <option key={operation} value={operation}>
            {operationLabel(operation)}
          </option>
        ))}
      </select>
      <select
        aria-label="Key"
        value={filter.key_id ?? ''}
        onChange={(event) => show({ key_id: event.currentTarget.value })}
      >
        <option value="">Any key</option>
        {(keys.data ?? []).map(({ id, name }) => (
          <option key={id} value={id}>
            {shownText(name, 100)}
          </option>
        ))}
      </select>
      {filter.deployment_id && <Button onClick={() => show({ deployment_id: '' })}>Of one deployment ×</Button>}
    </search>
  );
}

function AuditTable({ records }: { records: AuditList['resources'] }) {
  return (
    <div class="table-frame" tabIndex={0} role="group" aria-label="Changes">
      <table class="workspace-table">
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">Change</th>
            <th scope="col">Of</th>
            <th scope="col">By</th>
            <th scope="col">Fields</th>
          </tr>
        </thead>
        <tbody>
          {records.map(({ id, at, operation, subject, actor, key_name, fields }) => {
            const deployment = subject['deployment_id'];
            const text = subjectText(subject);
            return (
              <tr key={id}>
                <td class="workspace-line">
                  <TimeAgo at={at} />
                </td>
                <td class="workspace-line">{shownText(operationLabel(operation), 60)}</td>
                <td class="workspace-who">
                  {deployment === undefined ? (
                    <Untrusted text={text} longest={200} />
                  ) : (
                    <a href={paths.deployment(encodeURIComponent(deployment))}>
                      <Untrusted text={text} longest={200} />
                    </a>
                  )}
                </td>
                <td class="workspace-who">
                  <Untrusted text={key_name ?? actorLabel(actor)} longest={100} />
                </td>
                <td class="mono workspace-fields">
                  <Untrusted text={fields.map(changedFieldText).join(', ')} longest={500} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
