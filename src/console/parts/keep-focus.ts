/** What may take the focus of something inside it. */
const places = 'main, section, form, fieldset, dialog, details, nav, table, ul, ol, li, [role], [tabindex]';

/**
 * Keeps the focus on the page. Browsers drop it when the element that has it is removed or disabled, as a button of an
 * entry that is deleted: it moves to the nearest part of the page around that, and back if the element is enabled again.
 */
export function keepFocus(): void {
  /** The element that was last given the focus, with all around it. */
  let path: readonly Element[] = [];
  /** The same of the last one outside of a dialog. */
  let opener: readonly Element[] = [];
  let standIn: HTMLElement | undefined;

  const keep = (): void => {
    const [last] = path;
    const active = document.activeElement;
    if (!last || (active !== document.body && active !== last && active !== standIn)) return;
    const isUsable = last.isConnected && !last.matches(':disabled');
    if (isUsable && active !== standIn) return;
    const dialog = last.closest('dialog');
    const from = dialog?.isConnected === false ? opener : path;
    const next = from.find(
      (each, at) => canBeSeen(each) && (at === 0 ? !each.matches(':disabled') : each.matches(places)),
    );
    const place = next ?? document.getElementById('content');
    if (!(place instanceof HTMLElement) || place === active) return;
    standIn = place === last ? undefined : place;
    if (standIn && standIn.tabIndex < 0) standIn.tabIndex = -1;
    place.focus({ preventScroll: true });
  };

  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof Element) || target === standIn) return;
    standIn = undefined;
    path = around(target);
    if (!target.closest('dialog')) opener = path;
  });
  document.addEventListener('pointerdown', ({ target }) => {
    // Whoever points at something that takes no focus wants to have none. A second click on a busy button does not.
    if (target instanceof Node && !path[0]?.contains(target)) path = [];
  });
  new MutationObserver(keep).observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
}

/** Not removed, hidden, or empty as the place of announcements when the last one has gone. */
const canBeSeen = (element: Element): boolean => element.getBoundingClientRect().height > 0;

function around(element: Element | null): Element[] {
  return element ? [element, ...around(element.parentElement)] : [];
}
