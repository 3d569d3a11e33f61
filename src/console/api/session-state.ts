import { signal } from '@preact/signals';
import type { Session } from '../../contract/control/session.ts';

/** The session of this browser; undefined while nobody is signed in. */
export const session = signal<Session | undefined>(undefined);

/** Why the sign-in page is shown, where there is something to say. */
export const signInMessage = signal<string | undefined>(undefined);

/** Shows the pages of a session. */
export function takeSession(current: Session): void {
  session.value = current;
  signInMessage.value = undefined;
}

/** Shows the sign-in page. */
export function endSession(message?: string): void {
  session.value = undefined;
  signInMessage.value = message;
}
