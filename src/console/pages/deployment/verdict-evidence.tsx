import type { StoredVerdict } from '../../../contract/control/verdict.ts';
import { Badge } from '../../parts/badge.tsx';
import { duration, TimeAgo } from '../../parts/time.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';
import { kindOf } from './verdict-rows.ts';
import { needTable, VerdictTable } from './verdict-table.tsx';
import { Table } from '../../parts/table.tsx';

const reporters: ReadonlyMap<string, string> = new Map([
  ['action', 'the GitHub Action'],
  ['app', 'the GitHub App'],
  ['cli', 'the command line'],
]);

/** The verdict of the smoke tests, and what each test expected and saw. */
export function VerdictEvidence({ verdict }: { verdict: StoredVerdict }) {
  const { tests, kind, reporter, details_url } = verdict;
  const isTable = needTable(tests);
  const passed = tests.filter((test) => test.kind === 'passed').length;
  const { label, tone } = kindOf(kind);
  return (
    <details class="deployment-verdict" open={kind === 'failed'}>
      <summary>
        Smoke tests: <Badge tone={tone}>{label}</Badge>{' '}
        <span class="muted">
          {passed} of {tests.length} passed, reported by {reporters.get(reporter) ?? reporter}{' '}
          <TimeAgo at={verdict.created_at} />
        </span>
      </summary>
      {isTable && <VerdictTable tests={tests} />}
      {tests.map((test, index) => (
        <Test key={index} test={test} isInTable={isTable} />
      ))}
      {isWebAddress(details_url) && (
        <p>
          <a href={details_url} rel="noreferrer noopener" target="_blank">
            Open the run that tested it
          </a>
        </p>
      )}
    </details>
  );
}

/** Allows only the schemes of the contract: a `javascript:` link would run in this page. */
const isWebAddress = (url: string | null | undefined): url is string => url != null && /^https?:\/\//i.test(url);

/** What one test expected and saw. Its times are in the table, where there is one. */
function Test({ test, isInTable }: { test: StoredVerdict['tests'][number]; isInTable: boolean }) {
  const { label, tone } = kindOf(test.kind);
  return (
    <section class="deployment-test">
      <p>
        <Badge tone={tone}>{label}</Badge> <Untrusted text={test.name} longest={200} />{' '}
        {!isInTable && (
          <span class="muted">
            {test.attempts > 1 && `${test.attempts} attempts`}
            {test.first_event_ms !== null && ` · first event after ${duration(test.first_event_ms)}`}
            {test.total_ms !== null && ` · ${duration(test.total_ms)} in all`}
          </span>
        )}
      </p>
      {test.why !== null && (
        <p>
          <Untrusted text={test.why} longest={2_000} />
        </p>
      )}
      {test.expectations.length > 0 && (
        <Table label={`Expectations of ${test.name.slice(0, 80)}`} columns={['Result', 'Expected', 'Seen']} class="">
          {test.expectations.map(({ expected, seen, held, advises }, index) => (
            <tr key={index}>
              <td>
                <Badge tone={held ? 'good' : advises ? 'warn' : 'bad'}>{held ? 'Held' : 'Not held'}</Badge>
                {advises && <span class="muted"> advice</span>}
              </td>
              <td>
                <Untrusted text={expected} longest={2_000} />
              </td>
              <td>
                <Untrusted text={seen} longest={2_000} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
