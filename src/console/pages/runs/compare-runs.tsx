import type { TracedRunResponse } from '../../../contract/control/tracing-project.ts';
import { useAddressQuery } from '../../api/use-list.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { RunBadge } from '../../parts/badge.tsx';
import { isSame } from '../../parts/changes.ts';
import { Comparison } from '../../parts/comparison.tsx';
import { deploymentPage, type DeploymentContentProps } from '../../parts/deployment-page.tsx';
import { Empty, ErrorNotice, Loading } from '../../parts/notices.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { errorText, duration } from '../../parts/words.ts';
import { IdLink, Untrusted, shownText } from '../../parts/untrusted.tsx';
import { paths } from '../../paths.ts';
import { alignSteps, type StepPair } from './step-rows.ts';
import { absentValues, runDuration, stepMs } from './run-facts.ts';
import { getRun } from './runs-api.ts';
import { Table } from '../../parts/table.tsx';

/** Two runs side by side, selected by the URL: `?left=RUN&right=RUN`. */
export default deploymentPage('Runs', Compared, 'Compare runs');

function Compared({ deployment: { id, tracer_session_id } }: DeploymentContentProps) {
  const [{ left = '', right = '' }] = useAddressQuery();
  const isComplete = left !== '' && right !== '';
  const { data, error, reload } = useLoaded(`${left} ${right}`, async (signal) =>
    isComplete ? Promise.all([left, right].map((runId) => getRun(tracer_session_id ?? '', runId, signal))) : undefined,
  );
  const [one, other] = data ?? [];
  return (
    <>
      <p class="head">
        <a href={paths.runs(id)}>All runs</a>
      </p>
      {error && <ErrorNotice error={error} retry={reload} />}
      {!isComplete && (
        <Empty title="Choose two runs">
          <p>
            Select two runs in the list of <a href={paths.runs(id)}>all runs</a>, then choose “Compare”.
          </p>
        </Empty>
      )}
      {isComplete && !data && !error && <Loading what="the two runs" />}
      {one && other && <TwoRuns deploymentId={id} runs={[one, other]} />}
    </>
  );
}

type Pair = readonly [TracedRunResponse, TracedRunResponse];

function TwoRuns({ deploymentId, runs }: { deploymentId: string; runs: Pair }) {
  const [left, right] = runs;
  const sides = [`Run ${left.id.slice(0, 8)}`, `Run ${right.id.slice(0, 8)}`] as const;
  const pairs = alignSteps(left.steps ?? [], right.steps ?? []);
  return (
    <div class="stack">
      <RunTable deploymentId={deploymentId} runs={runs} />
      {(['input', 'output'] as const).map((kind) => (
        <section key={kind} aria-labelledby={`compare-${kind}`} class="compare-section">
          <h2 id={`compare-${kind}`}>{kind === 'input' ? 'Input' : 'Output'}</h2>
          {left[kind] == null && right[kind] == null ? (
            <p class="muted">{absentValues(left)[kind === 'input' ? 'inputs' : 'outputs']}</p>
          ) : (
            <Comparison
              name={kind === 'input' ? 'Inputs' : 'Outputs'}
              left={left[kind]}
              right={right[kind]}
              sides={sides}
            />
          )}
        </section>
      ))}
      <section aria-labelledby="compare-steps" class="compare-section">
        <h2 id="compare-steps">Steps</h2>
        {pairs.length === 0 ? (
          <p class="muted">No steps were recorded.</p>
        ) : (
          <>
            <p class="compare-head" aria-hidden="true">
              <span>Step</span>
              {sides.map((side) => (
                <span key={side}>{shownText(side, 40)}</span>
              ))}
              <span>Values</span>
            </p>
            <ol class="plain compare-steps">
              {pairs.map((pair, index) => (
                <li key={index}>
                  <StepOfBoth pair={pair} sides={sides} />
                </li>
              ))}
            </ol>
          </>
        )}
      </section>
    </div>
  );
}

function RunTable({ deploymentId, runs }: { deploymentId: string; runs: Pair }) {
  return (
    <Table label="The two runs" columns={['Run', 'Status', 'Ended', 'Duration', 'Tokens', 'Revision']}>
      {runs.map((run, index) => (
        <tr key={index}>
          <th scope="row">
            <IdLink to={paths.run} deploymentId={deploymentId} id={run.id} />
            {run.error && (
              <div class="failed runs-error">
                <Untrusted text={errorText(run.error)} longest={300} />
              </div>
            )}
          </th>
          <td>
            <RunBadge status={run.status} />
          </td>
          <td>
            <TimeAgo at={run.ended_at} />
          </td>
          <td class="figure">{runDuration(run)}</td>
          <td class="figure">{run.tokens?.total.toLocaleString('en') ?? '–'}</td>
          <td class="mono">{shownText(run.revision_id?.slice(0, 8) ?? '–')}</td>
        </tr>
      ))}
    </Table>
  );
}

function StepOfBoth({ pair: { left, right }, sides }: { pair: StepPair; sides: readonly [string, string] }) {
  const name = left?.name ?? right?.name ?? '';
  const path = left?.path ?? right?.path ?? [];
  const timeOf = (step: StepPair['left']): string => {
    if (!step) return 'not run';
    const ms = stepMs(step);
    return `${step.error === null ? '' : 'failed, '}${ms === undefined ? 'not ended' : duration(ms)}`;
  };
  const isDifferent =
    left && right
      ? !isSame([left.input, left.output, left.error], [right.input, right.output, right.error])
      : undefined;
  return (
    <details>
      <summary class="choice">
        <span class="fold">
          <bdi>{shownText([...path, name].join(' › '), 200)}</bdi>
        </span>
        <span>{timeOf(left)}</span>
        <span>{timeOf(right)}</span>
        <span class="tag">{isDifferent === undefined ? 'in one only' : isDifferent ? 'different' : 'same'}</span>
      </summary>
      <div class="stack run-step">
        {[left, right].map(
          (step, index) =>
            step?.error != null && (
              <p key={index} class="field-error">
                {sides[index]}: <Untrusted text={step.error} longest={2_000} />
              </p>
            ),
        )}
        <h3>Input</h3>
        <Comparison name="Inputs of the step" left={left?.input} right={right?.input} sides={sides} />
        <h3>Output</h3>
        <Comparison name="Outputs of the step" left={left?.output} right={right?.output} sides={sides} />
      </div>
    </details>
  );
}
