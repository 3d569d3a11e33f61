import type { StoreItem } from '../../../contract/agent/store-item.ts';
import { useForm } from '../../api/use-form.ts';
import { LinesField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { readOptionalJsonObject } from '../../parts/json-text.ts';
import { announce } from '../../parts/toasts.tsx';
import { Untrusted } from '../../parts/untrusted.tsx';
import { putItem } from './store-api.ts';

interface ItemFormProps {
  deploymentId: string;
  /** The namespace of a new item. */
  namespace: readonly string[];
  /** The item to change; without it, the form creates one. */
  item?: StoreItem;
  onSaved: () => void;
  onClose: () => void;
}

/** Creates an item of the store, or changes the value of one. */
export function ItemForm({ deploymentId, namespace, item, onSaved, onClose }: ItemFormProps) {
  const { status, values, submit, show, typed } = useForm(() => ({
    namespace: namespace.join('/'),
    key: '',
    value: JSON.stringify(item?.value ?? {}, undefined, 2),
  }));
  const save = async (): Promise<void> => {
    const labels = values.namespace.split('/').flatMap((label) => (label.trim() === '' ? [] : [label.trim()]));
    const parsed = readOptionalJsonObject(values.value);
    const problems = {
      namespace: !item && labels.length === 0 ? 'Enter at least one name.' : undefined,
      key: !item && values.key.trim() === '' ? 'Enter a key.' : undefined,
      value: parsed.problem,
    };
    if (parsed.value === undefined || problems.namespace !== undefined || problems.key !== undefined) {
      show(problems);
      return;
    }
    const { value } = parsed;
    const itemKey = item ? { namespace: item.namespace, key: item.key } : { namespace: labels, key: values.key.trim() };
    const isSaved = await submit(() => putItem(deploymentId, { ...itemKey, value }));
    if (!isSaved) return;
    announce('The item is saved.');
    onSaved();
    onClose();
  };
  return (
    <FormDialog
      title={item ? 'Change the item' : 'New item'}
      action="Save the item"
      {...status}
      onSubmit={() => void save()}
      onClose={onClose}
    >
      {item ? (
        <p class="head">
          <Untrusted text={item.key} longest={200} />{' '}
          <span class="muted">
            in <Untrusted text={item.namespace.join(' / ')} longest={300} />
          </span>
        </p>
      ) : (
        <>
          <TextField label="Namespace" hint="Names with a slash between them: users/ada." {...typed('namespace')} />
          <TextField label="Key" hint="An item with this key there is replaced." {...typed('key')} />
        </>
      )}
      <LinesField
        label="Value (JSON)"
        hint="The whole value of the item. Saving starts its time to live again, where the agent sets one."
        {...typed('value')}
        rows={10}
      />
    </FormDialog>
  );
}
