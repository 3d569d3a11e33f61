import type { Compute } from './compute.ts';

/** The computes for both kinds of programs. */
export interface Computes {
  /** For what this service built. */
  builds: Compute;
  /** For container images. */
  images: Compute;
}

/** Runs every agent on the compute that its program needs; removes from both. */
export function chosenCompute({ builds, images }: Computes): Compute {
  return {
    start: (spec, signal) => (spec.program.kind === 'image' ? images : builds).start(spec, signal),
    async remove(deployment) {
      for (const compute of new Set([builds, images])) await compute.remove?.(deployment);
    },
  };
}
