/** How long after the last input a page is idle (ms). */
const idleAfterMs = 5 * 60_000;

let lastInput = Date.now();
for (const type of ['pointerdown', 'pointermove', 'keydown', 'wheel']) {
  addEventListener(type, () => (lastInput = Date.now()), { capture: true, passive: true });
}

/** Whether the page had no input for some minutes: its requests then do not prolong the session. */
export const isPageIdle = (): boolean => Date.now() - lastInput > idleAfterMs;
