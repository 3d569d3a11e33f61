import type { StoreItem } from '../../../contract/agent/store-item.ts';
import { JsonView } from '../../parts/json-view.tsx';
import { TimeAgo } from '../../parts/time.tsx';
import { shownText, Untrusted } from '../../parts/untrusted.tsx';
import { Button } from '../../parts/button.tsx';

interface ItemListProps {
  items: readonly StoreItem[];
  /** The text that was searched for. */
  text: string | undefined;
  onEdit: (item: StoreItem) => void;
  onDelete: (item: StoreItem) => void;
}

/** The items of a store; each opens and shows its value. */
export function ItemList({ items, text, onEdit, onDelete }: ItemListProps) {
  // An agent without an index ignores the text and gives its items no score.
  const isByMeaning = text === undefined || items.some(({ score }) => score != null);
  const shown = isByMeaning ? items : items.filter((item) => hasText(item, text.toLowerCase()));
  return (
    <>
      {!isByMeaning && (
        <p class="notice">
          This agent has no index for searches by meaning. Of the items loaded so far, those that contain the text are
          shown.
        </p>
      )}
      {shown.length === 0 && <p class="muted">None of the items loaded so far contains the text.</p>}
      <ul class="plain store-items" aria-label="Items">
        {shown.map((item) => (
          <li key={JSON.stringify([item.namespace, item.key])} class="panel">
            <details>
              <summary>
                <span class="fold store-key">
                  <Untrusted text={item.key} longest={200} />
                </span>
                <span class="muted">
                  <Untrusted text={item.namespace.join(' / ')} longest={200} />
                </span>
                {item.updated_at != null && (
                  <span class="muted store-time">
                    <TimeAgo at={item.updated_at} />
                  </span>
                )}
              </summary>
              <div class="store-value">
                <JsonView value={item.value} open />
                <div class="actions">
                  <Button label={`Change ${shownText(item.key, 100)}`} onClick={() => onEdit(item)}>
                    Change
                  </Button>
                  <Button kind="danger" label={`Delete ${shownText(item.key, 100)}`} onClick={() => onDelete(item)}>
                    Delete
                  </Button>
                </div>
              </div>
            </details>
          </li>
        ))}
      </ul>
    </>
  );
}

const hasText = ({ namespace, key, value }: StoreItem, text: string): boolean =>
  `${namespace.join(' ')} ${key} ${JSON.stringify(value)}`.toLowerCase().includes(text);
