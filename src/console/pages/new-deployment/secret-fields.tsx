import { secretsText } from '../../parts/deployment-fields.ts';
import { SecretValue, TextField } from '../../parts/field.tsx';
import { readSecretLines, type Draft, type Problems } from './request.ts';
import { Button } from '../../parts/button.tsx';

type Secrets = Draft['secrets'];

interface SecretsProps {
  secrets: Secrets;
  problems: Problems;
  onChange: (secrets: Secrets) => void;
}

/** The environment variables of the agent, each with a name and a value. */
export function SecretFields({ secrets, problems, onChange }: SecretsProps) {
  const change = (index: number, changed: Partial<Secrets[number]>): void =>
    onChange(secrets.map((each, at) => (at === index ? { ...each, ...changed } : each)));
  const paste = (index: number, event: ClipboardEvent): void => {
    const pasted = readSecretLines(event.clipboardData?.getData('text') ?? '');
    if (!pasted) return;
    event.preventDefault();
    onChange([...secrets.slice(0, index), ...pasted, ...secrets.slice(index + 1)]);
  };
  return (
    <section class="panel">
      <h2>{secretsText.label}</h2>
      <p class="field-hint">{secretsText.hint} You can paste the lines of a .env file into a name.</p>
      {secrets.map(({ name, value }, index) => (
        <div key={index} class="new-deployment-secret">
          <TextField
            label={`Name of secret ${index + 1}`}
            problem={problems[`secrets.${index}.name`]}
            class="mono"
            value={name}
            spellcheck={false}
            onPaste={(event) => paste(index, event)}
            onInput={(typed) => change(index, { name: typed })}
          />
          <SecretValue
            label={`Value of secret ${index + 1}`}
            problem={problems[`secrets.${index}.value`]}
            value={value}
            onInput={(typed) => change(index, { value: typed })}
          />
          <Button
            label={`Remove secret ${index + 1}`}
            onClick={() => onChange(secrets.filter((_, at) => at !== index))}
          >
            Remove
          </Button>
        </div>
      ))}
      <Button onClick={() => onChange([...secrets, { name: '', value: '' }])}>Add a secret</Button>
    </section>
  );
}
