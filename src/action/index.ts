import * as core from '@actions/core';
import { run } from './run.ts';

run().catch((error: unknown) =>
  core.setFailed(error instanceof Error ? (error.stack ?? error.message) : String(error)),
);
