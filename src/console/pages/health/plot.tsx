import type { Signal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
// Import before the library, which reads the language.
import './valid-language.ts';
import uPlot from 'uplot';
import type { Health } from '../../../contract/control/health.ts';
import { isolatedPoints, plotData, summaryOf, type PlotKind, type Range, placeLabels } from './plots.ts';
import { theme } from '../../parts/theme.ts';
import { shortId } from '../../parts/words.ts';

interface PlotProps {
  kind: PlotKind;
  health: Health;
  range: Range;
  /** The step under the cursor, in all plots. */
  cursor: Signal<number | undefined>;
}

const height = 180;
/** The intervals of a scale of whole numbers. */
const wholeSteps = [0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));
const colors = ['var(--accent)', 'var(--warn)'] as const;
const faintAccent = 'color-mix(in srgb, var(--accent) 13%, transparent)';

/** One plot with its title, and the names and values of its lines at the cursor. */
export function Plot({ kind, health, range, cursor }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const latestHealth = useRef(health);
  latestHealth.current = health;
  const theme = useThemeVersion();
  const data = useMemo(() => plotData(health, kind), [health, kind]);

  const [, ...rows] = data;
  const isMeasured = rows.some((values) => values.some((value) => value !== null));

  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const created = new uPlot(
      options({
        kind,
        range,
        cursor,
        width: element.clientWidth,
        shown: latestHealth,
        color: (css) => colorOf(css, element),
      }),
      plotData(latestHealth.current, kind),
      element,
    );
    plot.current = created;
    const resizeObserver = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height }));
    resizeObserver.observe(element);
    return () => {
      resizeObserver.disconnect();
      created.destroy();
      plot.current = undefined;
    };
    // Create the plot again for a new theme, because colours are read on creation.
  }, [kind, range, theme, isMeasured]);
  useEffect(() => plot.current?.setData(data), [data]);

  const at = cursor.value;
  return (
    <section class="panel health-plot" aria-label={kind.title}>
      <header class="row row-split">
        <h2>{kind.title}</h2>
        <p class="muted health-keys" aria-hidden="true">
          {kind.lines.map(({ label }, index) => {
            const value = at === undefined ? data[index + 1]?.findLast((each) => each !== null) : data[index + 1]?.[at];
            return (
              <span key={label} class={`health-key health-key-${index}`}>
                {kind.lines.length > 1 && label} <b>{value == null ? '–' : kind.format(value)}</b>
              </span>
            );
          })}
        </p>
      </header>
      {isMeasured ? (
        <div ref={frame} class="health-canvas" role="img" aria-label={summaryOf(health, kind)} />
      ) : (
        <div class="muted health-unmeasured">
          <p>Not measured in this period</p>
          {kind.measures !== undefined && <p>{kind.measures}</p>}
        </div>
      )}
    </section>
  );
}

interface PlotContext extends Pick<PlotProps, 'kind' | 'range' | 'cursor'> {
  width: number;
  shown: { current: Health };
  /** Resolves a CSS colour for the canvas. */
  color: (css: string) => string;
}

/** Resolves a CSS colour, because a canvas does not support variables. */
function colorOf(css: string, element: HTMLElement): string {
  element.style.color = css;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}

/** The options of a plot, in the colours of the theme. The page has its own accessible legend. */
function options({ kind, range, cursor, width, shown, color }: PlotContext): uPlot.Options {
  const axis = {
    stroke: color('var(--muted)'),
    grid: { stroke: color('var(--line)'), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { sync: { key: 'health' }, drag: { x: false, y: false }, points: { size: 7 } },
    scales: {
      // Include the last step, which may contain the latest deploy.
      x: { range: (_plot, min, max) => [min, max + shown.current.step_seconds] },
      // Leave space above the line for the names of the deploys.
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.3 : 1] },
    },
    axes: [
      { ...axis, size: 30, values: (_plot, splits) => splits.map((seconds) => timeLabel(seconds, range)), space: 70 },
      {
        ...axis,
        ...(kind.isWhole ? { incrs: wholeSteps } : {}),
        size: 68,
        values: (_plot, splits) => splits.map((value) => kind.format(value)),
      },
    ],
    series: [
      {},
      ...kind.lines.map(({ label }, index) => ({
        label,
        stroke: color(colors[index] ?? colors[0]),
        width: 2,
        spanGaps: false,
        points: { size: 9, filter: (plot: uPlot, row: number) => isolatedPoints(plot.data[row] ?? []) },
        // Dashes distinguish the lines not by colour alone.
        ...(index === 1 ? { dash: [6, 4] } : {}),
        ...(index === 0 && kind.lines.length === 1 ? { fill: color(faintAccent) } : {}),
      })),
    ],
    plugins: [
      deployLines(() => shown.current.deploys, { line: color('var(--busy)'), background: color('var(--surface)') }),
    ],
    hooks: { setCursor: [({ cursor: { idx } }) => (cursor.value = idx ?? undefined)] },
  };
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** `14:05`; over days, `3 Feb` at midnight. */
function timeLabel(seconds: number, { ms }: Range): string {
  const at = new Date(seconds * 1_000);
  const isMidnight = at.getHours() === 0 && at.getMinutes() === 0;
  if (isMidnight || ms > 7 * 24 * 3_600_000) return day.format(at);
  return clock.format(at);
}

/** A text that changes with the theme. */
function useThemeVersion(): string {
  const [isDark, setDark] = useState(() => darkScheme().matches);
  useEffect(() => {
    const scheme = darkScheme();
    const onChange = (): void => setDark(scheme.matches);
    scheme.addEventListener('change', onChange);
    return () => scheme.removeEventListener('change', onChange);
  }, []);
  return `${theme.value} ${isDark}`;
}

const darkScheme = (): MediaQueryList => matchMedia('(prefers-color-scheme: dark)');

/** The colours of lines and labels, and of a label's background. */
interface Colors {
  line: string;
  background: string;
}

/** Draws a vertical line for each deploy, labelled with the short id of its revision. */
function deployLines(deploys: () => Health['deploys'], { line, background }: Colors): uPlot.Plugin {
  return {
    hooks: {
      draw(plot) {
        const { ctx, bbox } = plot;
        const scale = devicePixelRatio;
        ctx.save();
        ctx.strokeStyle = line;
        ctx.lineWidth = scale;
        ctx.font = `${11 * scale}px ui-monospace, monospace`;
        ctx.textBaseline = 'top';
        ctx.textAlign = 'left';
        ctx.setLineDash([4 * scale, 3 * scale]);
        const right = bbox.left + bbox.width;
        const labels = deploys().flatMap(({ revision_id, at }) => {
          const x = Math.round(plot.valToPos(Date.parse(at) / 1_000, 'x', true));
          if (x < bbox.left || x > right) return [];
          ctx.beginPath();
          ctx.moveTo(x, bbox.top);
          ctx.lineTo(x, bbox.top + bbox.height);
          ctx.stroke();
          const text = shortId(revision_id);
          return [{ x, text, width: ctx.measureText(text).width }];
        });
        // Draw labels after all lines, which would cross them.
        for (const { text, width, start, row } of placeLabels(labels, { right, gap: 4 * scale })) {
          const top = bbox.top + (2 + row * 14) * scale;
          ctx.fillStyle = background;
          ctx.fillRect(start - 2 * scale, top, width + 4 * scale, 13 * scale);
          ctx.fillStyle = line;
          ctx.fillText(text, start, top + scale);
        }
        ctx.restore();
      },
    },
  };
}
