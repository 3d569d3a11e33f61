import { useId, useMemo } from 'preact/hooks';
import { shownText } from '../../parts/untrusted.tsx';
import { describeGraph, layOutGraph, type GraphDrawing } from './graph-layout.ts';
import type { NodeStatus } from './run-view.ts';

interface GraphViewProps {
  drawing: GraphDrawing;
  nodes: ReadonlyMap<string, NodeStatus>;
}

const statusTexts: Readonly<Record<NodeStatus, string>> = {
  running: 'running',
  done: 'done',
  failed: 'failed',
  waiting: 'waits for you',
};
const tones = { running: 'busy', done: 'good', failed: 'bad', waiting: 'warn' } as const;
/** SVG paths around 0,0, since fonts may lack these characters. */
const signPaths: Readonly<Record<NodeStatus, string>> = {
  running: 'M4 0A4 4 0 1 1 0-4',
  done: 'M-4 0-1 3 4-4',
  failed: 'M-4-4 4 4M4-4-4 4',
  waiting: 'M0-5V1M0 3V5',
};

/** The graph with the status of each node. */
export function GraphView({ drawing, nodes }: GraphViewProps) {
  const layout = useMemo(() => layOutGraph(drawing), [drawing]);
  const nodeList = useMemo(() => describeGraph(drawing), [drawing]);
  const arrowId = useId();
  const running = [...nodes].filter(([, status]) => status === 'running').map(([name]) => name);
  return (
    <details class="surface playground-panel" open>
      <summary>
        <h2>Graph</h2>
      </summary>
      {layout && (
        <div class="playground-graph" role="region" aria-label="Drawing of the graph" tabIndex={0}>
          <svg
            role="img"
            aria-label={`The graph has ${nodeList.length} nodes; they are listed below.`}
            viewBox={`0 0 ${layout.width} ${layout.height}`}
            width={layout.width}
            height={layout.height}
          >
            <defs>
              <marker id={arrowId} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
                <path d="M0 0 8 4 0 8z" class="playground-arrow" />
              </marker>
            </defs>
            {layout.groups.map(({ id, label, x, y, width, height }) => (
              <g key={id} class="playground-subgraph">
                <rect x={x - width / 2} y={y - height / 2} width={width} height={height} rx={8} />
                <text x={x - width / 2 + 8} y={y - height / 2 + 14}>
                  {shownText(label)}
                </text>
              </g>
            ))}
            {layout.lines.map(({ from, to, label, isConditional, points }, index) => (
              <g key={index} class={isConditional ? 'playground-line playground-line-conditional' : 'playground-line'}>
                <path d={pathOf(points)} marker-end={`url(#${arrowId})`}>
                  <title>{`${shownText(from)} to ${shownText(to)}${label === undefined ? '' : `: ${shownText(label)}`}`}</title>
                </path>
              </g>
            ))}
            {layout.nodes.map(({ id, label, x, y, width, height }) => {
              const status = nodes.get(id);
              return (
                <g
                  key={id}
                  class={`playground-node ${status ? `playground-node-${status} tone-${tones[status]}` : ''}`}
                  data-node={id}
                >
                  <rect
                    x={x - width / 2}
                    y={y - height / 2}
                    width={width}
                    height={height}
                    rx={8}
                    stroke-width={status ? 2 : 1}
                  />
                  {status && (
                    <path
                      class="playground-sign"
                      d={signPaths[status]}
                      transform={`translate(${x - width / 2 + 12} ${y})`}
                    />
                  )}
                  <text x={x} y={y + 4} text-anchor="middle">
                    {shownText(label)}
                  </text>
                  <title>{`${shownText(id)}${status ? `, ${statusTexts[status]}` : ''}`}</title>
                </g>
              );
            })}
          </svg>
        </div>
      )}
      {!layout && <p class="muted">The graph is too large to be drawn.</p>}
      <p class="muted playground-running" role="status">
        {running.length > 0 ? `Running: ${shownText(running.join(', '), 200)}` : ''}
      </p>
      <details>
        <summary>Nodes as a list</summary>
        <ul aria-label="Nodes">
          {nodeList.map(({ id, label, next }) => {
            const status = nodes.get(id);
            return (
              <li key={id}>
                <code>{shownText(label, 100)}</code>
                {status && `, ${statusTexts[status]}`}
                {next.length > 0 && <span class="muted"> → {shownText(next.join(', '), 300)}</span>}
              </li>
            );
          })}
        </ul>
      </details>
    </details>
  );
}

const pathOf = (points: readonly { x: number; y: number }[]): string =>
  points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
