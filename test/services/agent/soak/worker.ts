import type { Pool } from 'pg';
import type { Caller } from './caller.ts';
import type { Said } from './caller.ts';
import type { Chance } from './chance.ts';
import { Ledger } from './ledger.ts';
import { RunLedger } from './run-ledger.ts';

/** The content of an assistant's version. */
export interface Version {
  greeting: string;
  name: string;
  metadata: Record<string, unknown>;
}

export interface Assistant {
  active: number;
  /** The first is version 1. */
  versions: readonly Version[];
}

export interface Cron {
  metadata: Record<string, unknown>;
  enabled: boolean;
  threadId: string | null;
}

/** A caller's tools and records. No other caller changes its resources, so their state is known. */
export interface Worker {
  name: string;
  chance: Chance;
  caller: Caller;
  database: Pool;
  /** The URL of a webhook for a run. */
  hook: (mark: string) => string;
  /** A unique word for each run. */
  newMark: () => string;
  assistants: Ledger<Assistant>;
  /** Threads by their metadata. */
  threads: Ledger<Record<string, unknown>>;
  /** Steps observed on a thread, which must not disappear. */
  floors: Map<string, readonly string[]>;
  /** The steps that a copy started with. */
  copied: Map<string, readonly string[]>;
  /** Steps written manually, once each. */
  byHand: { threadId: string; step: string; isSure: boolean }[];
  items: Ledger<{ value: Record<string, unknown> }>;
  crons: Ledger<Cron>;
  /** How often each cron was due. */
  firings: Map<string, number>;
  /** The messages of each A2A task. */
  tasks: Map<string, string>;
  runs: RunLedger;
  faults: string[];
}

export type Step = (worker: Worker) => Promise<void>;

/** What a client needs. */
export function newWorker(parts: Pick<Worker, 'name' | 'chance' | 'caller' | 'database'> & { hookAt: string }): Worker {
  let marks = 0;
  return {
    ...parts,
    hook: (mark) => `${parts.hookAt}/${mark}`,
    newMark: () => `${parts.name}-${(marks += 1)}`,
    assistants: new Ledger(),
    threads: new Ledger(),
    floors: new Map(),
    copied: new Map(),
    byHand: [],
    items: new Ledger(),
    crons: new Ledger(),
    firings: new Map(),
    tasks: new Map(),
    runs: new RunLedger(),
    faults: parts.caller.faults,
  };
}

/** Records a change: acknowledged ones are certain, those without a response may have happened. */
export function note<T>(ledger: Ledger<T>, id: string, state: T | undefined, said: Said): boolean {
  if (said.kind === 'answered') ledger.is(id, state);
  else ledger.maybe(id, state);
  return said.kind === 'answered';
}
