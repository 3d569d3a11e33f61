import { isObject } from '../../../kit/json-object.ts';
import type { Checkpoint, ThreadState } from '../../../contract/agent/thread.ts';
import { compareKeys, isSame, type KeyChange } from '../../parts/changes.ts';

/** The number of states in a page of a thread's history. */
export const historyPage = 30;

/** A state of a thread, with what brought it about. */
export interface Step {
  id: string;
  checkpoint: Checkpoint;
  state: ThreadState;
  /** The nodes that ran to make it, `input` or `edit`. */
  madeBy: string;
  number: number | undefined;
  at: string | undefined;
  next: readonly string[];
  runId: string | undefined;
  changes: readonly KeyChange[];
  /** It continues an older state than the one listed before it. */
  isFork: boolean;
}

/** The steps of a thread from its states, newest first. */
export function toSteps(states: readonly ThreadState[]): Step[] {
  const byId = new Map(states.map((state) => [idOf(state.checkpoint), state]));
  return states.flatMap((state, index) => {
    const { checkpoint } = state;
    const id = idOf(checkpoint);
    if (!checkpoint || id === '') return [];
    const parentId = idOf(state.parent_checkpoint);
    const parent = byId.get(parentId);
    const { step, run_id: runId } = state.metadata ?? {};
    return {
      id,
      checkpoint,
      state,
      madeBy: makerOf(state, parent),
      number: typeof step === 'number' ? step : undefined,
      at: state.created_at ?? undefined,
      next: state.next,
      runId: typeof runId === 'string' ? runId : undefined,
      changes: compareKeys(keyed(parent?.values), keyed(state.values)).filter(isChange),
      isFork: parent !== undefined && states[index + 1] !== parent,
    };
  });
}

/** Only objects have keys to compare. */
const keyed = (values: unknown): Record<string, unknown> => (isObject(values) ? values : {});

const isChange = ({ kind }: KeyChange): boolean => kind !== 'same';

const idOf = (checkpoint: Checkpoint | null | undefined): string => checkpoint?.checkpoint_id ?? '';

function makerOf({ metadata }: ThreadState, parent: ThreadState | undefined): string {
  const source = metadata?.['source'];
  if (source === 'input') return 'Before the run';
  if (source === 'update') return 'Edited';
  if (source === 'fork') return 'Forked';
  const nodes = parent?.next.filter((name) => name !== '__start__') ?? [];
  return nodes.length > 0 ? nodes.join(', ') : 'Start';
}

/** What an edit of a state has to send: the keys that were changed, since reducers would add the others again. */
export function changedValues(before: unknown, after: Record<string, unknown>): Record<string, unknown> {
  const former = keyed(before);
  return Object.fromEntries(Object.entries(after).filter(([key, value]) => !isSame(former[key], value)));
}
