/**
 * Refuses a write of a run that this process no longer holds. The engine checks a step's writes at the end of the step;
 * until then the rejection looks unhandled.
 */
export class RunOwnershipLost extends Error {
  override name = 'RunOwnershipLost';
}
