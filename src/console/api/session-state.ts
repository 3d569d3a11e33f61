import { signal } from '@preact/signals';
import type { Session } from '../../contract/control/session.ts';

/** The session of this browser; undefined while signed out. */
export const session = signal<Session | undefined>(undefined);

/** The message on the sign-in page, such as why the session ended. */
export const signInMessage = signal<string | undefined>(undefined);

/** Shows the pages of a session. */
export function openSession(current: Session): void {
  session.value = current;
  signInMessage.value = undefined;
}

/** Shows the sign-in page. */
export function endSession(message?: string): void {
  session.value = undefined;
  signInMessage.value = message;
}
