import type { Desired } from '../deploy/file/desired.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import type { Problem } from '../kit/diagnostics/problem.ts';
import type { PackedSource } from '../kit/archive/pack.ts';

/** The folder that is to be uploaded, where there is one; what is wrong with it; or that the step was ended meanwhile. */
export type PackResult =
  { kind: 'packed'; tarball?: PackedSource } | { kind: 'wrong'; problems: Problem[] } | { kind: 'ended' };

/** Packs the folder of a deployment before anything is sent. Loaded only if there is a folder. */
export async function packSourceDir(desired: Desired, signal: AbortSignal): Promise<PackResult> {
  if (desired.source !== 'internal_source' || desired.sourceDir === undefined) return { kind: 'packed' };
  const { packSource } = await import('../kit/archive/pack.ts');
  const { sourceDir: folder, graphConfigPath } = desired;
  try {
    const packed = await packSource({ folder, graphConfigPath, signal });
    return packed.ok ? { kind: 'packed', tarball: packed.source } : { kind: 'wrong', problems: packed.problems };
  } catch (error) {
    if (signal.aborted) return { kind: 'ended' };
    throw error;
  }
}

/** How a step ends that was ended while it read the folder. */
export const endedWhilePacking: Outcome = {
  kind: 'interrupted',
  passes: false,
  reason: 'This step was ended before anything was changed.',
  changed: false,
  notes: [],
};
