/** Elements that may get the focus instead of an element inside them. */
const focusTargets = 'main, section, form, fieldset, dialog, details, nav, table, ul, ol, li, [role], [tabindex]';

/**
 * Keeps the focus on the page. Browsers drop it when the focused element is removed or disabled, such as the button of
 * a deleted entry. This moves it to the nearest enclosing part of the page, and back if the element is enabled again.
 */
export function keepFocus(): void {
  /** The last focused element and its ancestors. */
  let path: readonly Element[] = [];
  /** The last focused element outside of a dialog, and its ancestors. */
  let opener: readonly Element[] = [];
  let standIn: HTMLElement | undefined;

  const restoreFocus = (): void => {
    const [lastFocused] = path;
    const active = document.activeElement;
    if (!lastFocused || (active !== document.body && active !== lastFocused && active !== standIn)) return;
    const isUsable = lastFocused.isConnected && !lastFocused.matches(':disabled');
    if (isUsable && active !== standIn) return;
    const dialog = lastFocused.closest('dialog');
    const from = dialog?.isConnected === false ? opener : path;
    const next = from.find(
      (each, at) => isVisible(each) && (at === 0 ? !each.matches(':disabled') : each.matches(focusTargets)),
    );
    const place = next ?? document.getElementById('content');
    if (!(place instanceof HTMLElement) || place === active) return;
    standIn = place === lastFocused ? undefined : place;
    if (standIn && standIn.tabIndex < 0) standIn.tabIndex = -1;
    place.focus({ preventScroll: true });
  };

  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof Element) || target === standIn) return;
    standIn = undefined;
    path = withAncestors(target);
    if (!target.closest('dialog')) opener = path;
  });
  document.addEventListener('pointerdown', ({ target }) => {
    // A click on something that takes no focus removes it, except a second click on a busy button.
    if (target instanceof Node && !path[0]?.contains(target)) path = [];
  });
  new MutationObserver(restoreFocus).observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ['disabled'],
  });
}

/** False for removed, hidden and empty elements, such as the list of announcements after the last one. */
const isVisible = (element: Element): boolean => element.getBoundingClientRect().height > 0;

function withAncestors(element: Element | null): Element[] {
  return element ? [element, ...withAncestors(element.parentElement)] : [];
}
