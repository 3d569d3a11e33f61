import { isObject } from '../../../kit/json-object.ts';
import type { Checkpoint, ThreadState } from '../../../contract/agent/thread.ts';
import { compareKeys, isSame, type KeyChange } from '../../parts/changes.ts';

/** The number of states in a page of a thread's history. */
export const historyPage = 30;

/** A state of a thread, with its origin and its changes. */
export interface Step {
  id: string;
  checkpoint: Checkpoint;
  state: ThreadState;
  /** Names of the nodes that ran to make it, or a description of another origin. */
  origin: string;
  number: number | undefined;
  at: string | undefined;
  next: readonly string[];
  runId: string | undefined;
  changes: readonly KeyChange[];
  /** Whether its parent is not the state listed after it. */
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
      origin: describeOrigin(state, parent),
      number: typeof step === 'number' ? step : undefined,
      at: state.created_at ?? undefined,
      next: state.next,
      runId: typeof runId === 'string' ? runId : undefined,
      changes: compareKeys(asObject(parent?.values), asObject(state.values)).filter(isChange),
      isFork: parent !== undefined && states[index + 1] !== parent,
    };
  });
}

/** The values if they are an object, which has keys to compare; else an empty object. */
const asObject = (values: unknown): Record<string, unknown> => (isObject(values) ? values : {});

const isChange = ({ kind }: KeyChange): boolean => kind !== 'same';

const idOf = (checkpoint: Checkpoint | null | undefined): string => checkpoint?.checkpoint_id ?? '';

function describeOrigin({ metadata }: ThreadState, parent: ThreadState | undefined): string {
  const source = metadata?.['source'];
  if (source === 'input') return 'Before the run';
  if (source === 'update') return 'Edited';
  if (source === 'fork') return 'Forked';
  const nodes = parent?.next.filter((name) => name !== '__start__') ?? [];
  return nodes.length > 0 ? nodes.join(', ') : 'Start';
}

/** The values to send for an edit: only the changed keys, since reducers would add the others again. */
export function changedValues(before: unknown, after: Record<string, unknown>): Record<string, unknown> {
  const previous = asObject(before);
  return Object.fromEntries(Object.entries(after).filter(([key, value]) => !isSame(previous[key], value)));
}
