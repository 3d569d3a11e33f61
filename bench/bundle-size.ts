// How many bytes of program a runner fetches with the Action, beside a plain bundle of the same packages.
import { dirname } from 'node:path';
import { bytesIn, makeBundles } from './bundles.ts';
import type { Measured } from './figure.ts';

/** Bytes of everything in dist/, built from the sources as they are. */
export async function bundleSize(): Promise<Measured[]> {
  using bundles = await makeBundles();
  return [
    {
      figure: 'bundle-size',
      unit: 'bytes',
      ours: bytesIn(dirname(bundles.ours)),
      peer: bytesIn(dirname(bundles.plain)),
      notes: { ours: 'every file of dist/', peer: `imported whole and minified: ${bundles.packages.join(', ')}` },
      targets: [{ of: 'ours', most: 1_000_000 }],
    },
  ];
}
