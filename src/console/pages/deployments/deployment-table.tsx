import type { ComponentChildren } from 'preact';
import { shortCommit } from '../../../contract/control/repo-ref.ts';
import type { DeploymentSummary } from '../../../contract/control/deployment-summary.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { shownText, Untrusted } from '../../parts/untrusted.tsx';
import { paths } from '../../paths.ts';
import {
  activityTexts,
  changeText,
  failuresOf,
  stateLabel,
  barsOf,
  barsPath,
  sparklineHeight,
  type ListView,
  type SortKey,
} from './deployment-list.ts';
import { useWindowRows } from './use-window-rows.ts';

const stateTones: Readonly<Record<string, Tone>> = {
  live: 'good',
  deploying: 'busy',
  failed: 'bad',
  deleting: 'warn',
  'no-source': 'warn',
};

const verdictTones: Readonly<Record<string, Tone>> = { passed: 'good', failed: 'bad' };
const columns = 7;

interface TableProps {
  deployments: readonly DeploymentSummary[];
  view: ListView;
  onSort: (key: SortKey) => void;
}

/** The deployments as a table. Only the rows in view are rendered. */
export function DeploymentTable({ deployments, view, onSort }: TableProps) {
  const { body, items, measure, onFocusIn } = useWindowRows(deployments.map(({ id }) => id));
  let end = 0;
  const rows: ComponentChildren[] = [];
  for (const { index, start, size } of items) {
    const deployment = deployments[index];
    if (!deployment) continue;
    if (start > end) rows.push(<Gap key={`gap-${index}`} height={start - end} />);
    end = start + size;
    rows.push(
      <tr
        key={deployment.id}
        ref={measure}
        data-index={index}
        aria-rowindex={index + 2}
        onFocusIn={() => onFocusIn(index)}
      >
        <Cells deployment={deployment} />
      </tr>,
    );
  }
  const heading = (key: SortKey, label: string, width: string) => (
    <SortedHeading label={label} sortKey={key} width={width} view={view} onSort={onSort} />
  );
  return (
    <div class="table-frame">
      <table class="deployments-table" aria-rowcount={deployments.length + 1}>
        <caption class="visually-hidden">Deployments</caption>
        <thead>
          <tr aria-rowindex={1}>
            {heading('name', 'Deployment', '25%')}
            {heading('state', 'State', '12%')}
            <th scope="col" style={{ width: '16%' }}>
              Live commit
            </th>
            {heading('change', 'Last change', '15%')}
            <th scope="col" style={{ width: '10%' }}>
              Tests
            </th>
            {heading('requests', 'Last hour', '14%')}
            {heading('failures', 'Failures', '8%')}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows}
          {items.total > end && <Gap height={items.total - end} />}
        </tbody>
      </table>
    </div>
  );
}

/** The space of rows that are not rendered. */
const Gap = ({ height }: { height: number }) => (
  <tr aria-hidden="true">
    <td class="deployments-gap" colSpan={columns} style={{ height: `${height}px` }} />
  </tr>
);

interface HeadingProps {
  label: string;
  sortKey: SortKey;
  width: string;
  view: ListView;
  onSort: (key: SortKey) => void;
}

function SortedHeading({ label, sortKey, width, view, onSort }: HeadingProps) {
  const isSorted = view.sort === sortKey;
  const direction = view.isDescending ? 'descending' : 'ascending';
  return (
    <th scope="col" style={{ width }} aria-sort={isSorted ? direction : undefined}>
      <button type="button" class="deployments-sort" onClick={() => onSort(sortKey)}>
        {label}
        <span aria-hidden="true">{isSorted ? (view.isDescending ? ' ↓' : ' ↑') : ''}</span>
      </button>
    </th>
  );
}

function Cells({ deployment }: { deployment: DeploymentSummary }) {
  const { id, name, url, state, live_commit, last_change, verdict } = deployment;
  const failures = failuresOf(deployment);
  return (
    <>
      <td class="deployments-name">
        <a class="cut" href={paths.deployment(id)}>
          <Untrusted text={name} longest={100} />
        </a>
        {url !== null && (
          <span class="line">
            <span class="cut small mono muted" title={shownText(url)}>
              <Untrusted text={url} />
            </span>
            <CopyButton text={url} label={`Copy the address of ${shownText(name, 100)}`} />
          </span>
        )}
      </td>
      <td>
        <Badge tone={stateTones[state] ?? 'idle'}>{stateLabel(shownText(state, 30))}</Badge>
      </td>
      <td class="deployments-commit">
        {live_commit === null ? (
          <span class="muted">None</span>
        ) : (
          <>
            <code title={live_commit.sha}>{shownText(shortCommit(live_commit.sha))}</code>
            <span class="cut small muted" title={shownText(live_commit.subject ?? '')}>
              <Untrusted text={live_commit.subject ?? ''} longest={200} />
            </span>
          </>
        )}
      </td>
      <td class="deployments-change">
        {last_change === null ? (
          <span class="muted">Unknown</span>
        ) : (
          <>
            <TimeAgo at={last_change.at} />
            <span class="deployments-by muted">
              <Untrusted text={changeText(last_change)} longest={200} />
            </span>
          </>
        )}
      </td>
      <td>
        {verdict === null ? (
          <span class="muted">Not tested</span>
        ) : (
          <Badge tone={verdictTones[verdict] ?? 'warn'}>
            {verdict === 'unproven' ? 'Not proven' : stateLabel(shownText(verdict, 30))}
          </Badge>
        )}
      </td>
      <td class="small">
        <Sparkline deployment={deployment} />
      </td>
      <td class={`deployments-failures${failures > 0 ? ' deployments-failing' : ' muted'}`}>
        {failures.toLocaleString('en')}
      </td>
    </>
  );
}

function Sparkline({ deployment }: { deployment: DeploymentSummary }) {
  const { requests, errors, runs, failed_runs } = deployment.activity;
  const texts = activityTexts(deployment.activity);
  // Runs may outnumber requests: crons and batches start them too.
  const total = requests.map((count, step) => Math.max(count, runs[step] ?? 0));
  const failed = errors.map((count, step) => count + (failed_runs[step] ?? 0));
  const maxCount = Math.max(...total, ...failed, 1);
  return (
    <>
      <svg
        class="deployments-sparkline"
        viewBox={`0 0 ${Math.max(total.length, 1)} ${sparklineHeight}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <path class="deployments-requests" d={barsPath(barsOf(total, maxCount))} />
        <path class="deployments-errors" d={barsPath(barsOf(failed, maxCount))} />
      </svg>
      <span class="muted" title="The requests of clients. Those of this console are not counted.">
        {texts.requests}
      </span>
      <span class="deployments-runs muted" title="All runs that ended, whatever started them.">
        {texts.runs}
      </span>
    </>
  );
}
