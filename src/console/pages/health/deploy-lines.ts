import type uPlot from 'uplot';
import type { Health } from '../../../contract/control/health.ts';
import { shortId } from '../../parts/revision-status.ts';

/** The most labels that can be below each other. */
const labelRows = 8;

/** Draws a vertical line for each deploy, with the short id of its revision, below those that it would cover. */
export function deployLines(deploys: () => Health['deploys'], color: string): uPlot.Plugin {
  return {
    hooks: {
      draw(plot) {
        const { ctx, bbox } = plot;
        const scale = devicePixelRatio;
        ctx.save();
        ctx.strokeStyle = color;
        ctx.fillStyle = color;
        ctx.lineWidth = scale;
        ctx.font = `${11 * scale}px ui-monospace, monospace`;
        ctx.textBaseline = 'top';
        ctx.textAlign = 'left';
        ctx.setLineDash([4 * scale, 3 * scale]);
        // Where the last label of each row ends.
        const ends = Array.from({ length: labelRows }, () => -Infinity);
        for (const { revision_id, at } of deploys()) {
          const x = Math.round(plot.valToPos(Date.parse(at) / 1_000, 'x', true));
          if (x < bbox.left || x > bbox.left + bbox.width) continue;
          ctx.beginPath();
          ctx.moveTo(x, bbox.top);
          ctx.lineTo(x, bbox.top + bbox.height);
          ctx.stroke();
          const label = shortId(revision_id);
          const width = ctx.measureText(label).width + 4 * scale;
          // At the right edge the label goes to the left of its line.
          const start = x + width > bbox.left + bbox.width ? x - width : x + 4 * scale;
          const row = ends.findIndex((end) => end <= start);
          if (row < 0) continue;
          ctx.fillText(label, start, bbox.top + (2 + row * 13) * scale);
          ends[row] = start + width;
        }
        ctx.restore();
      },
    },
  };
}
