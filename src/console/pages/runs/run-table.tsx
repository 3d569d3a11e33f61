import type { Assistant } from '../../../contract/agent/assistant.ts';
import { RunBadge } from '../../parts/badge.tsx';
import { errorText, shortId } from '../../parts/words.ts';
import { TimeAgo } from '../../parts/time.tsx';
import { IdLink, Untrusted, shownText } from '../../parts/untrusted.tsx';
import { paths } from '../../paths.ts';
import type { ListedRun } from './live-runs.ts';
import { runDuration } from './run-facts.ts';
import { Table } from '../../parts/table.tsx';

interface RunTableProps {
  deploymentId: string;
  runs: readonly ListedRun[];
  assistants: readonly Assistant[];
  chosen: readonly ListedRun[];
  choose: (run: ListedRun, isChosen: boolean) => void;
}

/** The runs as a table, each with its input and output. */
export function RunTable({ deploymentId, runs, assistants, chosen, choose }: RunTableProps) {
  return (
    <Table
      label="Runs"
      columns={['Compare', 'Run', 'Status', 'Started by', 'Assistant', 'Ended', 'Duration', 'Revision', 'Tokens']}
      class="list-table runs-table"
    >
      {runs.map((run) => {
        const assistant = assistants.find(({ assistant_id }) => assistant_id === run.assistant_id);
        const isChosen = chosen.some(({ id }) => id === run.id);
        return (
          <tr key={run.id}>
            <td>
              <input
                type="checkbox"
                aria-label={`Compare run ${run.id.slice(0, 8)}`}
                checked={isChosen}
                disabled={run.ended_at === null || (!isChosen && chosen.length === 2)}
                onChange={(event) => choose(run, event.currentTarget.checked)}
              />
            </td>
            <th scope="row">
              <Summary deploymentId={deploymentId} run={run} />
            </th>
            <td>
              <RunBadge status={run.status} />
            </td>
            <td>
              <Trigger deploymentId={deploymentId} trigger={run.trigger} />
            </td>
            <td>
              <Untrusted text={assistant?.name ?? run.graph_id} longest={60} />
            </td>
            <td>{run.ended_at === null ? <span class="muted">In progress</span> : <TimeAgo at={run.ended_at} />}</td>
            <td class="figure">{runDuration(run)}</td>
            <td>
              {run.revision_id === null ? (
                '–'
              ) : (
                <IdLink to={paths.revision} deploymentId={deploymentId} id={run.revision_id} />
              )}
            </td>
            <td class="figure">{run.tokens?.total.toLocaleString('en') ?? '–'}</td>
          </tr>
        );
      })}
    </Table>
  );
}

/** The link to a run, with its input and its output or error. */
function Summary({ deploymentId, run }: { deploymentId: string; run: ListedRun }) {
  const { id, thread_id, ended_at, error, input_preview, output_preview } = run;
  // A run in progress has no page yet, so link to the playground, which follows it on its thread.
  const href =
    ended_at === null
      ? thread_id === null
        ? undefined
        : paths.thread(deploymentId, { thread: thread_id, run: id })
      : paths.run(deploymentId, encodeURIComponent(id));
  const idText = <span class="mono">{shownText(shortId(id))}</span>;
  return (
    <>
      {href === undefined ? idText : <a href={href}>{idText}</a>}
      {input_preview != null && <Preview label="In" text={input_preview} />}
      {error ? (
        <div class="failed runs-error">
          <Untrusted text={errorText(error)} longest={160} />
        </div>
      ) : (
        output_preview != null && <Preview label="Out" text={output_preview} />
      )}
    </>
  );
}

const Preview = ({ label, text }: { label: string; text: string }) => (
  <div class="runs-preview" title={shownText(text)}>
    <span class="muted">{label}</span>{' '}
    <span class="cut">
      <Untrusted text={text} longest={220} />
    </span>
  </div>
);

const triggers: Readonly<Record<string, string>> = { api: 'API', playground: 'Playground' };

function Trigger({ deploymentId, trigger }: { deploymentId: string; trigger: ListedRun['trigger'] }) {
  if (trigger == null) return <>–</>;
  if (trigger === 'cron') return <a href={paths.crons(deploymentId)}>Cron</a>;
  return <Untrusted text={triggers[trigger] ?? trigger} longest={40} />;
}
