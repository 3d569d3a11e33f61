import type { Deployment } from '../../../contract/control/deployment.ts';
import type { TracedRunResponse, TracedStep } from '../../../contract/control/tracing-project.ts';
import { isMissing } from '../../api/http.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { RunBadge } from '../../parts/badge.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DeploymentPage } from '../../parts/deployment-page.tsx';
import { isPlainError, shortId, duration } from '../../parts/words.ts';
import { Empty, ErrorNotice, Loading } from '../../parts/notices.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { IdLink, Untrusted, shownText } from '../../parts/untrusted.tsx';
import { paths } from '../../paths.ts';
import { absentValues, runDuration, stepMs, type AbsentValues } from './run-facts.ts';
import { getRun } from './runs-api.ts';
import { Fact } from '../../parts/table.tsx';
import { toWaterfall, type WaterfallRow } from './step-rows.ts';
import { JsonView } from '../../parts/json-view.tsx';

/** One run: its input, its outcome and its steps. */
export default function Run({ deploymentId, runId }: { deploymentId: string; runId: string }) {
  return (
    <DeploymentPage deploymentId={deploymentId} current="Runs" part={`Run ${shortId(runId)}`}>
      {(deployment) => <LoadedRun deployment={deployment} runId={runId} />}
    </DeploymentPage>
  );
}

function LoadedRun({ deployment: { id, tracer_session_id }, runId }: { deployment: Deployment; runId: string }) {
  // An ended run does not change, but one that has just ended may not have been exported yet.
  const { data, error, reload } = useLoaded(runId, (signal) => getRun(tracer_session_id ?? '', runId, signal), {
    everyMs: 15_000,
  });
  const isGone = isMissing(error);
  return (
    <>
      <p class="head">
        <a href={paths.runs(id)}>All runs</a>
      </p>
      {error && !isGone && <ErrorNotice error={error} retry={reload} />}
      {isGone && !data && (
        <Empty title="There is no such run">
          <p>
            A run appears some seconds after it ended, and is kept for 90 days. Check the id, or look for it among{' '}
            <a href={paths.runs(id)}>all runs</a>.
          </p>
        </Empty>
      )}
      {data ? <RunView deploymentId={id} run={data} /> : !error && <Loading what="the run" />}
    </>
  );
}

function RunView({ deploymentId, run }: { deploymentId: string; run: TracedRunResponse }) {
  const absent = absentValues(run);
  return (
    <>
      <section class="panel" aria-labelledby="run-title">
        <div class="row row-split head">
          <h2 id="run-title">
            Run <bdi class="mono">{shownText(run.id, 60)}</bdi> <CopyButton text={run.id} label="Copy the run’s id" />
          </h2>
          {run.thread_id !== null && (
            <a class="button button-primary" href={paths.thread(deploymentId, { thread: run.thread_id, run: run.id })}>
              Open in playground
            </a>
          )}
        </div>
        <RunFacts deploymentId={deploymentId} run={run} />
      </section>
      {run.error && (
        <section class="notice run-failure tone-bad" aria-labelledby="run-error">
          <h2 id="run-error">
            {isPlainError(run.error.error) ? (
              'Error'
            ) : (
              <>
                Error: <Untrusted text={run.error.error} longest={200} />
              </>
            )}
          </h2>
          <pre tabIndex={0} role="group" aria-label="Message of the error">
            <Untrusted text={run.error.message} longest={10_000} />
          </pre>
        </section>
      )}
      <section class="panel" aria-labelledby="run-steps">
        <h2 id="run-steps">Steps</h2>
        {run.is_cut && <p class="muted">Some long values were cut, or later steps left out.</p>}
        <Waterfall run={run} absent={absent} />
      </section>
      <div class="run-values">
        <section class="panel" aria-labelledby="run-input">
          <h2 id="run-input">Input</h2>
          <ShownValue value={run.input} absent={absent.inputs} />
        </section>
        <section class="panel" aria-labelledby="run-output">
          <h2 id="run-output">Output</h2>
          <ShownValue value={run.output} absent={absent.outputs} />
        </section>
      </div>
    </>
  );
}

function RunFacts({ deploymentId, run }: { deploymentId: string; run: TracedRunResponse }) {
  const { tokens, thread_id } = run;
  return (
    <dl class="facts">
      <Fact name="Status">
        <RunBadge status={run.status} />
      </Fact>
      <Fact name="Ended">
        <TimeAgo at={run.ended_at} />
      </Fact>
      <Fact name="Duration">{runDuration(run)}</Fact>
      {run.started_at !== null && (
        <Fact name="Waited before">
          {duration(Math.max(0, Date.parse(run.started_at) - Date.parse(run.created_at)))}
        </Fact>
      )}
      <Fact name="Tokens">
        {tokens
          ? `${tokens.total.toLocaleString('en')} (${tokens.input.toLocaleString('en')} in, ${tokens.output.toLocaleString('en')} out)`
          : 'none reported'}
      </Fact>
      <Fact name="Assistant">
        <a href={paths.assistant(deploymentId, run.assistant_id)}>
          <Untrusted text={run.graph_id} longest={60} />
        </a>
      </Fact>
      <Fact name="Thread">
        {thread_id === null ? (
          'not kept'
        ) : (
          <a class="mono" href={paths.runsOf(deploymentId, { thread: thread_id })}>
            {shownText(shortId(thread_id))}
          </a>
        )}
      </Fact>
      {run.revision_id !== null && (
        <Fact name="Revision">
          <IdLink to={paths.revision} deploymentId={deploymentId} id={run.revision_id} />
        </Fact>
      )}
    </dl>
  );
}

/** The steps of a run as bars on one scale. Each opens, also by the keyboard, and shows its input and output. */
function Waterfall({ run, absent }: { run: TracedRunResponse; absent: AbsentValues }) {
  const { rows, totalMs } = toWaterfall(run);
  if (rows.length === 0) return <p class="muted">No steps were recorded.</p>;
  return (
    <>
      <div class="run-axis" aria-hidden="true">
        <span>Time since the start</span>
        <span class="run-ticks">
          {[0, totalMs / 2, totalMs].map((ms) => (
            <span key={ms}>{duration(ms)}</span>
          ))}
        </span>
        <span class="figure run-ms">Duration</span>
      </div>
      <ol class="plain run-steps" aria-labelledby="run-steps">
        {rows.map((row, index) => (
          <li key={index}>
            <Step row={row} absent={absent} />
          </li>
        ))}
      </ol>
    </>
  );
}

function Step({ row: { step, depth, left, width, offsetMs }, absent }: { row: WaterfallRow; absent: AbsentValues }) {
  const ms = stepMs(step);
  const tone = step.error !== null ? 'tone-bad' : ms === undefined ? 'tone-warn' : '';
  return (
    <details>
      <summary class="choice">
        <span class="fold" style={{ paddingLeft: `${Math.min(depth, 8) * 14}px` }}>
          <bdi>{shownText(step.name, 100)}</bdi>
        </span>
        <span class="track" aria-hidden="true">
          <span class={`track-bar ${tone}`} style={{ left: `${left}%`, width: `${width}%` }} />
        </span>
        <span class="figure run-ms">
          {step.error !== null && <span class="failed">failed </span>}
          {ms === undefined ? 'not ended' : duration(ms)}
        </span>
      </summary>
      <div class="stack run-step">
        <p class="muted">Began {duration(offsetMs)} after the start.</p>
        {step.path.length > 0 && (
          <p class="muted">
            In <Untrusted text={step.path.join(' › ')} longest={500} />
          </p>
        )}
        {step.error !== null && (
          <div>
            <h3>Error</h3>
            <pre class="failed run-step-error">
              <Untrusted text={step.error} longest={10_000} />
            </pre>
          </div>
        )}
        <div>
          <h3>Input</h3>
          <ShownValue value={step.input} absent={absent.inputs} />
        </div>
        <div>
          <h3>Output</h3>
          <ShownValue value={step.output} absent={absentOutput(step, absent)} />
        </div>
        {step.is_cut && <p class="muted">Long values were cut.</p>}
      </div>
    </details>
  );
}

function absentOutput({ error, ended_at }: TracedStep, { outputs }: AbsentValues): string {
  if (error !== null) return 'None: the step failed.';
  return ended_at === null ? 'None: the step did not end.' : outputs;
}

/** A value of a run, or the reason for its absence. */
function ShownValue({ value, absent }: { value: unknown; absent: string }) {
  return value == null ? <p class="muted">{absent}</p> : <JsonView value={value} open />;
}
