import { useState } from 'preact/hooks';
import { apiKeyScopes, type ApiKeyScope } from '../../../contract/control/api-key-scopes.ts';
import { apiKeysList, newApiKey, type ApiKeyReply, type NewApiKey } from '../../../contract/control/api-key.ts';
import { idempotencyKeyHeader } from '../../../contract/control/idempotency-key.ts';
import { allEntriesOf } from '../../../contract/control/pages.ts';
import { ApiError, call, send } from '../../api/http.ts';
import { session } from '../../api/session-state.ts';
import { useForm } from '../../api/use-form.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { ConfirmDialog, Dialog } from '../../parts/dialog.tsx';
import { SelectField, TextField, type Choice } from '../../parts/field.tsx';
import { WhenLoaded } from '../../parts/notices.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { shownText, Untrusted } from '../../parts/untrusted.tsx';
import { whyNotRevocable } from './audit.ts';
import { Table } from '../../parts/table.tsx';

/** All keys of the workspace. */
export const listKeys = (signal: AbortSignal): Promise<ApiKeyReply[]> =>
  allEntriesOf((query) => call('GET', 'v1/api-keys', apiKeysList, { query, signal }));

/** The keys of the workspace: made, shown once, revoked. */
export function ApiKeys() {
  const [made, setMade] = useState<NewApiKey>();
  const [revoked, setRevoked] = useState<ApiKeyReply>();
  const loaded = useLoaded('keys', listKeys, { everyMs: 15_000 });
  const revoke = ({ id }: ApiKeyReply): Promise<unknown> =>
    send('DELETE', `v1/api-keys/${id}`, { headers: { [idempotencyKeyHeader]: crypto.randomUUID() } });
  return (
    <>
      <NewKey
        onMade={(key) => {
          setMade(key);
          void loaded.reload();
        }}
      />
      <WhenLoaded loaded={loaded} what="the keys">
        {(keys) => <KeyTable keys={keys} onRevoke={setRevoked} />}
      </WhenLoaded>
      {made && <MadeKey made={made} onClose={() => setMade(undefined)} />}
      {revoked && (
        <ConfirmDialog
          title="Revoke this key?"
          action="Revoke the key"
          isDangerous
          onConfirm={() => revoke(revoked)}
          done={`The key ${shownText(revoked.name, 100)} is revoked.`}
          onDone={loaded.reload}
          onClose={() => setRevoked(undefined)}
        >
          <p>
            Requests with the key <Untrusted text={revoked.name} longest={100} /> are refused from then on, and browsers
            that signed in with it are signed out. This can’t be undone.
          </p>
          {revoked.id === session.value?.key_id && (
            <p>
              <strong>You are signed in with this key: you will be signed out.</strong>
            </p>
          )}
        </ConfirmDialog>
      )}
    </>
  );
}

function NewKey({ onMade }: { onMade: (key: NewApiKey) => void }) {
  const { status, values, submit, show, typed } = useForm({ name: '', rights: 'admin', days: '' });
  // Kept until the key is made: a request that is sent again makes no second one.
  const [requestKey, setRequestKey] = useState(() => crypto.randomUUID());
  const name = typed('name');
  const request = async (): Promise<void> => {
    try {
      const { rights, days } = values;
      const headers = { [idempotencyKeyHeader]: requestKey };
      const scopes = scopesOf(rights);
      const expiry = days === '' ? {} : { expires_at: new Date(Date.now() + Number(days) * dayMs).toISOString() };
      const body = { name: values.name.trim(), scopes, ...expiry };
      onMade(await call('POST', 'v1/api-keys', newApiKey, { body, headers }));
      name.onInput('');
      setRequestKey(crypto.randomUUID());
    } catch (error) {
      // Another name is another request.
      if (error instanceof ApiError && error.status !== 0) setRequestKey(crypto.randomUUID());
      throw error;
    }
  };
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (values.name.trim() === '') show({ name: 'Enter a name.' });
    else void submit(request);
  };
  return (
    <form class="panel narrow" noValidate onSubmit={onSubmit}>
      <TextField
        label="Name of the new key"
        hint="Who or what uses it, such as a person or a pipeline. The audit log names it."
        {...name}
        problem={name.problem ?? status.problem}
        maxLength={100}
      />
      <SelectField
        label="What it may do"
        hint="A pipeline deploys and asks agents, for its smoke tests. Only a key for everything can make other keys."
        value={values.rights}
        options={rightsChoices}
        onChange={typed('rights').onInput}
      />
      <SelectField label="Expires" value={values.days} options={expiryChoices} onChange={typed('days').onInput} />
      <Button kind="primary" type="submit" aria-disabled={status.isBusy}>
        Make a key
      </Button>
    </form>
  );
}

const dayMs = 24 * 60 * 60_000;

/** The scopes to choose from, as they are usually wanted together. */
export const rightsChoices: readonly Choice[] = [
  { value: 'admin', label: 'Everything' },
  { value: 'deploy agent', label: 'Deploy and ask agents' },
  { value: 'agent', label: 'Ask agents' },
  { value: 'read', label: 'Read, without secrets' },
];

const expiryChoices: readonly Choice[] = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
];

/** The scopes of one of the choices. */
export const scopesOf = (rights: string): ApiKeyScope[] =>
  apiKeyScopes.filter((scope) => rights.split(' ').includes(scope));

/** The scopes of a key as they were chosen; those of another program one by one. */
export const rightsText = (scopes: readonly ApiKeyScope[]): string =>
  rightsChoices.find(({ value }) => value === scopes.join(' '))?.label ?? scopes.join(', ');

function MadeKey({ made: { key, name }, onClose }: { made: NewApiKey; onClose: () => void }) {
  return (
    <Dialog title="Your new key" onClose={onClose}>
      {key === null ? (
        <p>
          The key <Untrusted text={name} longest={100} /> was made, but its text can’t be shown a second time. Revoke it
          and make another one.
        </p>
      ) : (
        <>
          <p>
            Copy the key <Untrusted text={name} longest={100} /> now. It is shown only here, and only this once.
          </p>
          <p class="row sunken workspace-key">
            <code>{key}</code>
            <CopyButton text={key} label="Copy the key" />
          </p>
        </>
      )}
      <div class="actions">
        <Button kind="primary" onClick={onClose}>
          I have copied it
        </Button>
      </div>
    </Dialog>
  );
}

function KeyTable({ keys, onRevoke }: { keys: readonly ApiKeyReply[]; onRevoke: (key: ApiKeyReply) => void }) {
  return (
    <Table label="Keys" columns={['Name', 'May', 'Made', 'Last used', 'Expires', 'Revoke']}>
      {keys.map((key) => {
        const why = whyNotRevocable(key, keys);
        return (
          <tr key={key.id}>
            <th scope="row" class="workspace-name">
              <Untrusted text={key.name} longest={100} />
              {key.id === session.value?.key_id && <span class="muted"> (this session)</span>}
            </th>
            <td>{rightsText(key.scopes)}</td>
            <td>
              <TimeAgo at={key.created_at} />
            </td>
            <td>{key.last_used_at === null ? <span class="muted">Never</span> : <TimeAgo at={key.last_used_at} />}</td>
            <td>{key.expires_at === null ? <span class="muted">Never</span> : <TimeAgo at={key.expires_at} />}</td>
            <td>
              {why === undefined ? (
                <Button kind="danger" label={`Revoke ${shownText(key.name, 100)}`} onClick={() => onRevoke(key)}>
                  Revoke
                </Button>
              ) : (
                <span class="muted">{why}</span>
              )}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}
