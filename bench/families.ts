import type { Measured } from './figure.ts';

/** What measures each family of figures, loaded when it is measured: one may need packages that another does without. */
export const families: Readonly<Record<string, () => Promise<Measured[]>>> = {
  'bundle-size': async () => (await import('./bundle-size.ts')).bundleSize(),
  start: async () => (await import('./start.ts')).start(),
  'poll-cpu': async () => (await import('./poll-cpu.ts')).pollCpu(),
  'sse-parse': async () => (await import('./sse-parse.ts')).sseParse(),
  'agent-runs': async () => (await import('./agent-runs.ts')).agentRuns(),
  'python-runs': async () => (await import('./python-runs.ts')).pythonRuns(),
  'state-read': async () => (await import('./state-read.ts')).stateRead(),
  intake: async () => (await import('./intake.ts')).intake(),
  stored: async () => (await import('./stored.ts')).stored(),
  push: async () => (await import('./push.ts')).push(),
  builds: async () => (await import('./builds.ts')).builds(),
  'before-traffic': async () => (await import('./before-traffic.ts')).beforeTraffic(),
  burst: async () => (await import('./burst.ts')).burst(),
  'control-load': async () => (await import('./control-load.ts')).controlLoad(),
  console: async () => (await import('./console.ts')).consoleFigures(),
  verdicts: async () => (await import('./verdicts.ts')).verdicts(),
  comparisons: async () => (await import('./comparisons.ts')).comparisons(),
  'app-histories': async () => (await import('./app-histories.ts')).appHistories(),
};

/** Families that take many minutes, and are measured only where they are named. */
export const slowFamilies: readonly string[] = ['app-histories', 'comparisons'];
