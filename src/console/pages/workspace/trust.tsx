import { useState } from 'preact/hooks';
import { idempotencyKeyHeader } from '../../../contract/control/idempotency-key.ts';
import { allEntriesOf } from '../../../contract/control/pages.ts';
import {
  githubIssuer,
  trustPoliciesList,
  trustPolicy,
  type ClaimRule,
  type TrustPolicy,
} from '../../../contract/control/trust-policy.ts';
import { call, send } from '../../api/http.ts';
import { useForm } from '../../api/use-form.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { Problem, SelectField, TextField } from '../../parts/field.tsx';
import { Empty, WhenLoaded } from '../../parts/notices.tsx';
import { Table } from '../../parts/table.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { announce } from '../../parts/toasts.tsx';
import { shownText, Untrusted } from '../../parts/untrusted.tsx';
import { rightsChoices, rightsText, scopesOf } from './api-keys.tsx';

/** Whose tokens are exchanged for keys of the workspace, so that a repository stores none. */
export function TrustPolicies() {
  const [deleted, setDeleted] = useState<TrustPolicy>();
  const loaded = useLoaded(
    'trust policies',
    (signal) => allEntriesOf((query) => call('GET', 'v1/trust-policies', trustPoliciesList, { query, signal })),
    { everyMs: 15_000 },
  );
  return (
    <>
      <NewPolicy onMade={loaded.reload} />
      <WhenLoaded loaded={loaded} what="the trust policies">
        {(policies) =>
          policies.length === 0 ? (
            <Empty title="No trust policies">
              <p>
                With a policy, a workflow with <code>permissions: id-token: write</code> deploys without a stored key.
              </p>
            </Empty>
          ) : (
            <Table label="Trust policies" columns={['Name', 'Trusts', 'May', 'Last used', 'Delete']}>
              {policies.map((policy) => (
                <PolicyRow key={policy.id} policy={policy} onDelete={() => setDeleted(policy)} />
              ))}
            </Table>
          )
        }
      </WhenLoaded>
      {deleted && (
        <ConfirmDialog
          title="Delete this trust policy?"
          action="Delete the policy"
          isDangerous
          onConfirm={() => send('DELETE', `v1/trust-policies/${deleted.id}`, { headers: newRequest() })}
          done={`The policy ${shownText(deleted.name, 100)} is deleted.`}
          onDone={loaded.reload}
          onClose={() => setDeleted(undefined)}
        >
          <p>
            No token is exchanged by <Untrusted text={deleted.name} longest={100} /> from then on. Keys that exist stay
            valid until they expire.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

const newRequest = () => ({ [idempotencyKeyHeader]: crypto.randomUUID() });

function PolicyRow({ policy, onDelete }: { policy: TrustPolicy; onDelete: () => void }) {
  const { name, issuer, audience, claims, scopes, key_minutes, last_used_at } = policy;
  return (
    <tr>
      <th scope="row" class="workspace-name">
        <Untrusted text={name} longest={100} />
      </th>
      <td>
        <Untrusted text={issuer} longest={200} />
        <div class="muted">
          for <Untrusted text={audience} longest={200} />, keys of {key_minutes} minutes
        </div>
        {Object.entries(claims).map(([claim, rule]) => (
          <div key={claim} class="mono">
            <Untrusted text={`${claim}: ${ruleText(rule)}`} longest={300} />
          </div>
        ))}
      </td>
      <td>{rightsText(scopes)}</td>
      <td>{last_used_at === null ? <span class="muted">Never</span> : <TimeAgo at={last_used_at} />}</td>
      <td>
        <Button kind="danger" label={`Delete ${shownText(name, 100)}`} onClick={onDelete}>
          Delete
        </Button>
      </td>
    </tr>
  );
}

const ruleText = (rule: ClaimRule): string =>
  typeof rule === 'string' ? rule : Array.isArray(rule) ? rule.join(' or ') : `like ${rule.like}`;

/** The claims of GitHub's tokens that a policy may name, with the labels of their fields. */
const githubClaims = [
  ['repository_id', 'Repository id', 'A number: gh api repos/OWNER/NAME --jq .id'],
  ['repository_owner_id', 'Owner id', 'A number: gh api repos/OWNER/NAME --jq .owner.id'],
  ['ref', 'Branch or tag', 'As in refs/heads/main; any when empty.'],
  ['environment', 'Environment', 'Of the job; any when empty.'],
] as const;

function NewPolicy({ onMade }: { onMade: () => Promise<void> }) {
  const { status, values, submit, show, typed } = useForm({
    name: '',
    issuer: githubIssuer,
    repository_id: '',
    repository_owner_id: '',
    ref: '',
    environment: '',
    sub: '',
    rights: 'deploy agent',
  });
  const isGithub = values.issuer.trim() === githubIssuer;
  const request = async (): Promise<void> => {
    const names = isGithub ? githubClaims.map(([claim]) => claim) : (['sub'] as const);
    const given = names.map((claim) => [claim, values[claim].trim()] as const).filter(([, value]) => value !== '');
    const scopes = scopesOf(values.rights);
    const body = { name: values.name, issuer: values.issuer.trim(), claims: Object.fromEntries(given), scopes };
    const { name } = await call('POST', 'v1/trust-policies', trustPolicy, { body, headers: newRequest() });
    announce(`The policy ${shownText(name, 100)} is made.`);
    typed('name').onInput('');
    await onMade();
  };
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault();
    const isMissing = (field: keyof typeof values): boolean => values[field].trim() === '';
    const isNoId = (field: keyof typeof values): boolean => isGithub && !/^\d+$/.test(values[field].trim());
    const problems = {
      ...(isMissing('name') ? { name: 'Enter a name.' } : {}),
      ...(!isGithub && isMissing('sub') ? { sub: 'Enter the subject of the tokens.' } : {}),
      ...(isNoId('repository_id') ? { repository_id: 'Enter the number of the repository.' } : {}),
      ...(isNoId('repository_owner_id') ? { repository_owner_id: 'Enter the number of its owner.' } : {}),
    };
    if (Object.keys(problems).length > 0) show(problems);
    else void submit(request);
  };
  return (
    <form class="panel narrow" noValidate onSubmit={onSubmit}>
      <TextField label="Name of the new policy" hint="Its keys are named after it." {...typed('name')} maxLength={60} />
      <TextField label="Issuer" hint="Of the tokens; the operator names the others." {...typed('issuer')} />
      {isGithub ? (
        githubClaims.map(([claim, label, hint]) => (
          <TextField key={claim} label={label} hint={hint} {...typed(claim)} />
        ))
      ) : (
        <TextField label="Subject" hint="The claim sub of its tokens." {...typed('sub')} />
      )}
      <SelectField
        label="What its keys may do"
        value={values.rights}
        options={rightsChoices}
        onChange={typed('rights').onInput}
      />
      <Problem text={status.problem} />
      <Button kind="primary" type="submit" aria-disabled={status.isBusy}>
        Make a policy
      </Button>
    </form>
  );
}
