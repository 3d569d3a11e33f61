import type { DeliveryDecision } from './deliveries.ts';

/** What handlers decide, on its way from them to the delivery's row. */
export interface DecisionNotes {
  /** The last decision about a delivery counts. */
  note(deliveryId: string, decision: DeliveryDecision): void;
  /** Takes the note away. */
  take(deliveryId: string): DeliveryDecision | undefined;
}

/** An empty set of notes. */
export function decisionNotes(): DecisionNotes {
  const notes = new Map<string, DeliveryDecision>();
  return {
    note: (id, decision) => void notes.set(id, decision),
    take: (id) => {
      const noted = notes.get(id);
      notes.delete(id);
      return noted;
    },
  };
}
