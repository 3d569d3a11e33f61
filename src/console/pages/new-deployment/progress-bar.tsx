import { sizeText } from '../../parts/size-text.ts';
import type { Progress } from './use-creation.ts';

/** How far packing and uploading are. */
export function ProgressBar({ progress }: { progress: Progress | undefined }) {
  if (!progress) return null;
  const { step, done, total } = progress;
  return (
    <div class="new-deployment-progress">
      <span>{`${step}: ${sizeText(done)} of ${sizeText(total)}`}</span>
      <progress aria-label={step} max={Math.max(total, 1)} value={done} />
    </div>
  );
}
