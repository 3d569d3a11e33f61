import { appHistories } from './app-histories.ts';
import { agentRuns } from './agent-runs.ts';
import { beforeTraffic } from './before-traffic.ts';
import { builds } from './builds.ts';
import { bundleSize } from './bundle-size.ts';
import { burst } from './burst.ts';
import { consoleFigures } from './console.ts';
import { controlLoad } from './control-load.ts';
import { intake } from './intake.ts';
import { pollCpu } from './poll-cpu.ts';
import { push } from './push.ts';
import { sseParse } from './sse-parse.ts';
import { start } from './start.ts';
import { stateRead } from './state-read.ts';
import { stored } from './stored.ts';
import { comparisons } from './comparisons.ts';
import { verdicts } from './verdicts.ts';
import type { Measured } from './figure.ts';

/** What measures each family of figures. A family may need packages or servers that another does without. */
export const families: Readonly<Record<string, () => Promise<Measured[]>>> = {
  'bundle-size': bundleSize,
  start,
  'poll-cpu': pollCpu,
  'sse-parse': sseParse,
  'agent-runs': agentRuns,
  'state-read': stateRead,
  intake,
  stored,
  push,
  builds,
  'before-traffic': beforeTraffic,
  burst,
  'control-load': controlLoad,
  console: consoleFigures,
  verdicts,
  comparisons,
  'app-histories': appHistories,
};

/** Families that take many minutes, and are measured only where they are named. */
export const slowFamilies: readonly string[] = ['app-histories', 'comparisons'];
