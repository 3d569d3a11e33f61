import { auditList, type AuditList } from '../../../contract/control/api-key.ts';
import { call } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { useAddressQuery, useList } from '../../api/use-list.ts';
import { List, Empty } from '../../parts/notices.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { shownText, Untrusted } from '../../parts/untrusted.tsx';
import { paths } from '../../paths.ts';
import { changedFieldText } from '../deployment/cause.ts';
import { actorLabel, auditedOperations, auditFilter, operationLabel, subjectText, type AuditFilter } from './audit.ts';
import { Button } from '../../parts/button.tsx';
import { Table } from '../../parts/table.tsx';
import { Select } from '../../parts/field.tsx';
import { listKeys } from './api-keys.tsx';

/** Who changed what, newest first. Its address keeps the filters. */
export function AuditLog() {
  const [query, change] = useAddressQuery();
  const filter = auditFilter(query);
  const list = useList(
    JSON.stringify(filter),
    ({ id }: AuditRecord) => id,
    async ({ limit }, signal, last) => {
      const options = { query: { limit, before: last?.id, ...filter }, signal };
      return (await call('GET', 'v1/audit', auditList, options)).resources;
    },
    { everyMs: 15_000, pageSize: 50, maxLimit: 100, maxPages: Infinity },
  );
  return (
    <>
      <Filters filter={filter} change={change} />
      <List
        list={list}
        what="the audit log"
        empty={
          <Empty title="No changes">
            <p>Every change that is made with a key, by the operator or by the service itself appears here.</p>
          </Empty>
        }
      >
        {(records) => <AuditTable records={records} />}
      </List>
    </>
  );
}

type AuditRecord = AuditList['resources'][number];

interface FilterProps {
  filter: AuditFilter;
  change: (changes: AuditFilter) => void;
}

function Filters({ filter, change }: FilterProps) {
  const keys = useLoaded('keys', listKeys);
  return (
    <search class="row head">
      <Select
        aria-label="Kind of change"
        value={filter.operation ?? ''}
        none="All changes"
        options={auditedOperations.map((value) => ({ value, label: operationLabel(value) }))}
        onChange={(operation) => change({ operation })}
      />
      <Select
        aria-label="Key"
        value={filter.key_id ?? ''}
        none="Any key"
        options={(keys.data ?? []).map(({ id, name }) => ({ value: id, label: shownText(name, 100) }))}
        onChange={(key_id) => change({ key_id })}
      />
      {filter.deployment_id && <Button onClick={() => change({ deployment_id: '' })}>Of one deployment ×</Button>}
    </search>
  );
}

function AuditTable({ records }: { records: readonly AuditRecord[] }) {
  return (
    <Table label="Changes" columns={['When', 'Change', 'Of', 'By', 'Fields']}>
      {records.map(({ id, at, operation, subject, actor, key_name, fields }) => {
        const deployment = subject['deployment_id'];
        const text = subjectText(subject);
        return (
          <tr key={id}>
            <td class="figure">
              <TimeAgo at={at} />
            </td>
            <td class="figure">{shownText(operationLabel(operation), 60)}</td>
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
    </Table>
  );
}
