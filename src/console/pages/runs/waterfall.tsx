import type { TracedRunResponse, TracedStep } from '../../../contract/control/tracing-project.ts';
import { duration } from '../../parts/time.tsx';
import { shownText, Untrusted } from '../../parts/untrusted.tsx';
import { stepMs, type AbsentValues } from './run-facts.ts';
import { toWaterfall, type WaterfallRow } from './step-rows.ts';
import { JsonView } from '../../parts/json-view.tsx';

/** The steps of a run as bars on one scale. Each opens, also by the keyboard, and shows its input and output. */
export function Waterfall({ run, absent }: { run: TracedRunResponse; absent: AbsentValues }) {
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

function Step({ row: { step, depth, left, width, afterMs }, absent }: { row: WaterfallRow; absent: AbsentValues }) {
  const ms = stepMs(step);
  const tone = step.error !== null ? 'track-failed' : ms === undefined ? 'track-open' : '';
  return (
    <details>
      <summary>
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
      <div class="run-step">
        <p class="muted">Began {duration(afterMs)} after the start.</p>
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

/** A value of a run, or why it is absent. */
export function ShownValue({ value, absent }: { value: unknown; absent: string }) {
  return value == null ? <p class="muted">{absent}</p> : <JsonView value={value} open />;
}
