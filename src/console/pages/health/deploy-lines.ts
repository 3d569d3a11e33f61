import uPlot from 'uplot';
import type { Health } from '../../../contract/control/health.ts';
import { shortId } from '../../parts/revision-status.ts';
import { placeLabels } from './plots.ts';

/** The colours of the lines and their labels, and of what is behind a label. */
interface Colors {
  line: string;
  background: string;
}

/** Draws a vertical line for each deploy, with the short id of its revision, below those that it would cover. */
export function deployLines(deploys: () => Health['deploys'], { line, background }: Colors): uPlot.Plugin {
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
        // After all lines, which would cross them.
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
