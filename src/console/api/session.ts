import { currentSession, session as sessionSchema, type SessionCreateRequest } from '../../contract/control/session.ts';
import { messageOf } from '../../kit/errors.ts';
import { call, readSession, send } from './http.ts';
import { endSession, session, openSession } from './session-state.ts';

/** A message to the other tabs of this browser, which share the session. */
type SessionChange = 'changed' | 'signed out';
const tabs = new BroadcastChannel('landfall session');
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of this origin only
const notifyOtherTabs = (change: SessionChange): void => tabs.postMessage(change);
tabs.addEventListener('message', ({ data }) => {
  if (data === 'changed') void readSession();
  else if (session.value !== undefined) endSession('You signed out in another tab.');
});

/** Restores the session of this browser's cookie. Signs in if the address has the code of a one-time link. */
export async function restoreSession(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  // The code must not stay in the history.
  if (code !== null) history.replaceState(null, '', location.pathname + location.search);
  // Use up the code even if the browser has a session: others could find a link that stays valid.
  const refused = code === null ? undefined : await signIn({ code }).then(() => undefined, messageOf);
  if (session.value !== undefined) return;
  try {
    // This responds 200 without a session: browsers would log a 401 on every first visit.
    const found = await call('GET', 'v1/sessions/current', currentSession);
    if (found.session) openSession(found.session);
    else endSession(refused);
  } catch (error) {
    endSession(refused ?? messageOf(error));
  }
}

/** @throws ApiError */
export async function signIn(request: SessionCreateRequest): Promise<void> {
  openSession(await call('POST', 'v1/sessions', sessionSchema, { body: request }));
  notifyOtherTabs('changed');
}

/** @throws ApiError */
export async function signOut(): Promise<void> {
  await send('DELETE', 'v1/session');
  endSession();
  notifyOtherTabs('signed out');
}

/** Chooses the workspace of an organisation's key, in all tabs. @throws ApiError */
export async function chooseTenant(tenantId: string): Promise<void> {
  openSession(await call('PATCH', 'v1/session', sessionSchema, { body: { tenant_id: tenantId } }));
  notifyOtherTabs('changed');
}
