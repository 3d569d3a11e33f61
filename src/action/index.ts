import * as core from '@actions/core';
import { stackOf } from '../kit/errors.ts';
import { run } from './run.ts';

/** A runner uses the Node version of action.yml; with an older one, a deploy would fail midway with a TypeError. */
const oldestNode = 24;

if (Number.parseInt(process.versions.node, 10) >= oldestNode) {
  run().catch((error: unknown) => core.setFailed(stackOf(error)));
} else {
  core.setFailed(
    `Landfall needs Node ${oldestNode} or later, and this is ${process.version}. Start it with that Node.`,
  );
}
