/** How long after the last input the requests of a page count as its own, and not as those of the person (ms). */
const awayAfterMs = 5 * 60_000;

let lastInput = Date.now();
for (const type of ['pointerdown', 'pointermove', 'keydown', 'wheel']) {
  addEventListener(type, () => (lastInput = Date.now()), { capture: true, passive: true });
}

/** Whether nobody has used this page for some minutes: what it requests now is by itself. */
export const isAway = (): boolean => Date.now() - lastInput > awayAfterMs;
