import * as core from '@actions/core';
import { stackOf } from '../errors.ts';
import { run } from './run.ts';

run().catch((error: unknown) => core.setFailed(stackOf(error)));
