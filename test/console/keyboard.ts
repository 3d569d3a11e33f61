// Uses pages as a person without a pointer does, and fails where one could not.
import type { Locator, Page } from 'playwright-core';

/** Where the focus is, seen from an element. */
interface Focus {
  isThere: boolean;
  /** In the same group of radio buttons or tabs, which are reached by arrows. */
  isInGroup: boolean;
  /** Fewer steps lead there backwards. */
  isBehind: boolean;
  /** It was on the page before, and is on nothing now. */
  isLost: boolean;
  isSeen: boolean;
  what: string;
}

const mostPresses = 400;
const mostReturns = 3;

/** Whether an element that has the focus shows it, within the window. */
const isSeen = `(at) => {
  const { top, bottom, left, right, width, height } = at.getBoundingClientRect();
  const isInView = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth && width > 0 && height > 0;
  const hasOutline = [at, at.closest('label, .new-deployment-file') ?? at].some((each) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(each);
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
  });
  return at === document.body || at.localName === 'main' || (hasOutline && isInView);
}`;

/** The direction costs the most, and is asked for once. */
const lookFrom = `(given, withDirection) => {
  const control = 'a[href], button, input, select, textarea, summary';
  const target = given.matches(control) || given.tabIndex >= 0
    ? given
    : given.closest('a[href], button, summary') ?? given.closest('label')?.control ?? given;
  const at = document.activeElement ?? document.body;
  const isThere = at === target;
  const isBehind = () => {
    const all = [...(at.closest('dialog') ?? document).querySelectorAll(control + ', [tabindex]')].filter(
      (each) => each.tabIndex >= 0 && !each.matches(':disabled') && each.checkVisibility(),
    );
    const before = (one) =>
      all.filter((each) => one.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_PRECEDING).length;
    const steps = all.length + 1;
    return (before(target) - before(at) + steps) % steps > steps / 2;
  };
  const tabs = target.closest('[role=tablist]');
  if (isThere) globalThis.hadFocus = true;
  return {
    isThere,
    isInGroup:
      (target.type === 'radio' && at.type === 'radio' && at.name === target.name) ||
      (tabs !== null && tabs.contains(at)),
    isBehind: withDirection && !isThere && isBehind(),
    isLost: at === document.body && globalThis.hadFocus === true,
    isSeen: (${isSeen})(at),
    what: at.outerHTML.slice(0, 120),
  };
}`;

/** What has the focus, and whether that can be seen. */
export const focused = (page: Page): Promise<Pick<Focus, 'what' | 'isSeen'>> =>
  page.evaluate(
    `({ what: document.activeElement.outerHTML.slice(0, 120), isSeen: (${isSeen})(document.activeElement) })`,
  );

/** Moves the focus to an element that can be used, from where it is. */
export async function reach(target: Locator): Promise<void> {
  const page = target.page();
  await target.and(page.locator(':not(:disabled, [aria-disabled="true"])')).waitFor();
  const look = await page.evaluateHandle<(element: unknown, withDirection: boolean) => Focus>(lookFrom);
  const focus = (isFirst = false): Promise<Focus> =>
    target.evaluate((element, { look, isFirst }) => look(element, isFirst), { look, isFirst });
  let { isThere, isInGroup, isBehind, isLost, isSeen, what } = await focus(true);
  if (isLost) {
    await page.waitForFunction('document.activeElement !== document.body', undefined, { timeout: 5000 }).catch(() => {
      throw new Error(`The focus was lost before ${String(target)}`);
    });
    ({ isThere, isInGroup, isBehind, isSeen, what } = await focus(true));
  }
  for (let presses = 0; !isThere; presses += 1) {
    if (presses === mostPresses) throw new Error(`${String(target)} can't be reached: the focus is on ${what}`);
    await page.keyboard.press(isInGroup ? 'ArrowRight' : isBehind ? 'Shift+Tab' : 'Tab');
    ({ isThere, isInGroup, isSeen, what } = await focus());
    // The page may have moved meanwhile, by what others changed: whoever comes back to an element sees it.
    for (let returns = 0; !isSeen; returns += 1) {
      if (returns === mostReturns) throw new Error(`The focus can't be seen on ${what}`);
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Tab');
      ({ isThere, isInGroup, isSeen, what } = await focus());
    }
  }
}

/** Presses a button, opens a link, chooses a radio button or changes a checkbox. */
export async function press(target: Locator): Promise<void> {
  await reach(target);
  const { keyboard } = target.page();
  const kind = await target.getAttribute('type');
  await keyboard.press(kind === 'checkbox' || kind === 'radio' ? 'Space' : 'Enter');
}

/** Replaces the text of a field. */
export async function type(target: Locator, text: string): Promise<void> {
  await reach(target);
  const { keyboard } = target.page();
  await keyboard.press('ControlOrMeta+A');
  if (text === '') await keyboard.press('Delete');
  // A key for each character is slow, and for each line would send the form.
  else if (text.includes('\n') || text.length > 30) await keyboard.insertText(text);
  else await keyboard.type(text);
}

/** Chooses an option, by its value or its label, from the open list. */
export async function choose(target: Locator, option: string): Promise<void> {
  await reach(target);
  const { keyboard } = target.page();
  const wanted = target
    .locator(`option[value=${JSON.stringify(option)}]`)
    .or(target.getByRole('option', { name: option, exact: true }));
  await wanted.waitFor({ state: 'attached' });
  const steps: number = await wanted.evaluate((each) => each.index - each.closest('select').selectedIndex);
  await keyboard.press('Space');
  for (let step = 0; step < Math.abs(steps); step += 1) await keyboard.press(steps > 0 ? 'ArrowDown' : 'ArrowUp');
  await keyboard.press('Enter');
}
