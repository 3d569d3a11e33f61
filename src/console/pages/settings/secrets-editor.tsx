import { useRef } from 'preact/hooks';
import { secretsText } from '../../parts/deployment-fields.ts';
import { Problem, SecretValue, TextField } from '../../parts/field.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';
import type { SecretEdits } from './secrets.ts';
import { Button } from '../../parts/button.tsx';

interface SecretsEditorProps {
  /** Only names: values that the service returned must never get into the document. */
  names: readonly string[];
  edits: SecretEdits;
  problem: string | undefined;
  onChange: (edits: SecretEdits) => void;
}

/** The secrets by name: set, add and remove them. */
export function SecretsEditor({ names, edits, problem, onChange }: SecretsEditorProps) {
  const lastKey = useRef(0);
  const { changed, removed, added } = edits;
  const without = <T,>(set: ReadonlySet<T>, each: T): Set<T> => new Set([...set].filter((other) => other !== each));
  const setChanged = (name: string, value: string | undefined): void => {
    const next = new Map(changed);
    if (value === undefined) next.delete(name);
    else next.set(name, value);
    onChange({ ...edits, changed: next, removed: without(removed, name) });
  };
  return (
    <fieldset class="settings-secrets">
      <legend>{secretsText.label}</legend>
      <p class="field-hint">{secretsText.hint}</p>
      {names.length === 0 && added.length === 0 && <p class="muted">No secrets yet. Add the first one below.</p>}
      <ul class="plain">
        {names.map((name) => (
          <li key={name}>
            <div class="row settings-secret-row">
              <code class={removed.has(name) ? 'settings-removed' : undefined}>
                <Untrusted text={name} longest={100} />
              </code>
              {removed.has(name) ? (
                <>
                  <span class="muted">is removed when you save</span>
                  <Button
                    label={`Keep ${name}`}
                    onClick={() => onChange({ ...edits, removed: without(removed, name) })}
                  >
                    Keep
                  </Button>
                </>
              ) : (
                <>
                  <Button
                    label={changed.has(name) ? `Keep the value of ${name}` : `Set a new value for ${name}`}
                    onClick={() => setChanged(name, changed.has(name) ? undefined : '')}
                  >
                    {changed.has(name) ? 'Keep the value' : 'Set a new value'}
                  </Button>
                  <Button
                    label={`Remove ${name}`}
                    onClick={() =>
                      onChange({
                        ...edits,
                        changed: new Map([...changed].filter(([other]) => other !== name)),
                        removed: new Set([...removed, name]),
                      })
                    }
                  >
                    Remove
                  </Button>
                </>
              )}
            </div>
            {changed.has(name) && (
              <SecretValue
                label={`New value of ${name}`}
                value={changed.get(name) ?? ''}
                onInput={(value) => setChanged(name, value)}
              />
            )}
          </li>
        ))}
        {added.map((each, index) => {
          const replace = (next: Partial<typeof each>): void =>
            onChange({ ...edits, added: added.map((other) => (other === each ? { ...each, ...next } : other)) });
          return (
            <li key={each.key} class="settings-added">
              <TextField
                label={`Name of new secret ${index + 1}`}
                class="mono"
                value={each.name}
                spellcheck={false}
                onInput={(name) => replace({ name: name.trim() })}
              />
              <SecretValue
                label={`Value of new secret ${index + 1}`}
                value={each.value}
                onInput={(value) => replace({ value })}
              />
              <Button
                label={`Remove new secret ${index + 1}`}
                onClick={() => onChange({ ...edits, added: added.filter((other) => other !== each) })}
              >
                Remove
              </Button>
            </li>
          );
        })}
      </ul>
      <Problem text={problem} />
      <Button
        onClick={() => onChange({ ...edits, added: [...added, { key: ++lastKey.current, name: '', value: '' }] })}
      >
        Add a secret
      </Button>
    </fieldset>
  );
}
