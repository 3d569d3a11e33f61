import { signal } from '@preact/signals';
import { Button } from './button.tsx';
import { useEffect, useRef } from 'preact/hooks';

interface Toast {
  id: number;
  text: string;
  kind: 'done' | 'failed';
}

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;
const displayMs = 8_000;

/** Announces the result of an action for some seconds, also to screen readers. */
export function announce(text: string, kind: Toast['kind'] = 'done'): void {
  const toast = { id: ++lastId, text, kind };
  toasts.value = [...toasts.value.slice(-3), toast];
  setTimeout(() => dismiss(toast.id), displayMs);
}

const dismiss = (id: number): void => {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
};

/** The place where announcements appear. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, kind }) => (
        <div key={id} class={`toast tone-${kind === 'failed' ? 'bad' : 'good'}`}>
          <span>{text}</span>
          <Button kind="icon" label="Dismiss" onClick={() => dismiss(id)}>
            ×
          </Button>
        </div>
      ))}
    </div>
  );
}

/** Whether the component is unmounted, so that it can no longer show the result of a request. */
export function useIsUnmounted(): () => boolean {
  const isUnmounted = useRef(false);
  useEffect(
    () => () => {
      isUnmounted.current = true;
    },
    [],
  );
  return () => isUnmounted.current;
}
