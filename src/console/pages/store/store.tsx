import { useState } from 'preact/hooks';
import type { StoreItem } from '../../../contract/agent/store-item.ts';
import { useAddressQuery, useList } from '../../api/use-list.ts';
import { useLoaded } from '../../api/use-loaded.ts';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { deploymentPage } from '../../parts/deployment-page.tsx';
import { readPair } from '../../parts/json-text.ts';
import { FilterField } from '../../parts/field.tsx';
import { List, Empty } from '../../parts/notices.tsx';
import { Untrusted, shownText } from '../../parts/untrusted.tsx';
import { ItemForm } from './item-form.tsx';
import { readNamespace, toNamespaceTree } from './namespace-tree.ts';
import { deleteItem, listNamespaces, searchItems } from './store-api.ts';
import { Button } from '../../parts/button.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { TimeAgo } from '../../parts/time.tsx';

/** The items in an agent's store. The URL has the namespace and the search. */
export default deploymentPage('Store', StoreView);

const everyMs = 15_000;
const pageSize = 100;

type Open = { kind: 'create' } | { kind: 'edit' | 'delete'; item: StoreItem };

function StoreView({ deploymentId }: { deploymentId: string }) {
  const [{ namespace: text, search = '' }, change] = useAddressQuery();
  const [open, setOpen] = useState<Open>();
  const namespace = readNamespace(text);
  const filter = readPair(search);
  const query = filter || search.trim() === '' ? undefined : search.trim();
  const namespaces = useLoaded(deploymentId, (signal) => listNamespaces(deploymentId, signal), { everyMs });
  const list = useList(
    JSON.stringify([deploymentId, namespace, search]),
    ({ namespace: around, key }: StoreItem) => JSON.stringify([around, key]),
    (page, signal) => searchItems(deploymentId, { namespace_prefix: namespace, filter, query, ...page }, signal),
    { everyMs, pageSize },
  );
  const close = (): void => setOpen(undefined);
  const reload = (): Promise<unknown> => Promise.all([list.reload(), namespaces.reload()]);
  return (
    <>
      <search class="row list-filters">
        <FilterField
          label="Text, or key=value of the items"
          placeholder="tea or user=ada"
          value={search}
          onChange={(typed) => change({ search: typed })}
        />
        <div class="end">
          <Button kind="primary" onClick={() => setOpen({ kind: 'create' })}>
            New item
          </Button>
        </div>
      </search>
      <div class="store-columns">
        <Namespaces
          namespaces={namespaces.data ?? []}
          current={namespace}
          choose={(chosen) => change({ namespace: chosen.length === 0 ? '' : JSON.stringify(chosen) })}
        />
        <div>
          <List
            list={list}
            what="the items"
            deploymentId={deploymentId}
            empty={
              search !== '' || namespace.length > 0 ? (
                <Empty title="No item matches">
                  <Button onClick={() => change({ search: '', namespace: '' })}>Show all items</Button>
                </Empty>
              ) : (
                <Empty title="The store is empty">
                  <p>
                    What the graphs write to <code>config.store</code> appears here. You can also make an item yourself.
                  </p>
                </Empty>
              )
            }
          >
            {(items) => (
              <ItemList
                items={items}
                text={query}
                onEdit={(item) => setOpen({ kind: 'edit', item })}
                onDelete={(item) => setOpen({ kind: 'delete', item })}
              />
            )}
          </List>
        </div>
      </div>
      {(open?.kind === 'create' || open?.kind === 'edit') && (
        <ItemForm
          deploymentId={deploymentId}
          namespace={namespace}
          {...(open.kind === 'edit' ? { item: open.item } : {})}
          onSaved={() => void reload()}
          onClose={close}
        />
      )}
      {open?.kind === 'delete' && (
        <ConfirmDialog
          title="Delete this item?"
          action="Delete the item"
          isDangerous
          onConfirm={() => deleteItem(deploymentId, open.item)}
          done="The item is deleted."
          onDone={reload}
          onClose={close}
        >
          <p>
            The agent no longer finds <Untrusted text={open.item.key} longest={200} /> in{' '}
            <Untrusted text={open.item.namespace.join(' / ')} longest={300} />. This can’t be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

interface NamespacesProps {
  namespaces: readonly (readonly string[])[];
  current: readonly string[];
  choose: (namespace: readonly string[]) => void;
}

/** The namespaces as a tree. The items of the selected one and of its descendants are shown. */
function Namespaces({ namespaces, current, choose }: NamespacesProps) {
  const currentKey = JSON.stringify(current);
  const rows = [{ namespace: [], label: 'All namespaces', depth: -1 }, ...toNamespaceTree(namespaces)];
  return (
    <nav aria-label="Namespaces" class="surface store-namespaces">
      <ul class="plain">
        {rows.map(({ namespace, label, depth }) => {
          const key = JSON.stringify(namespace);
          return (
            <li key={key}>
              <button
                type="button"
                class="choice"
                aria-current={key === currentKey ? 'true' : undefined}
                style={{ paddingLeft: `${10 + Math.min(depth + 1, 10) * 14}px` }}
                onClick={() => choose(namespace)}
              >
                <bdi>{shownText(label, 100)}</bdi>
              </button>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

interface ItemListProps {
  items: readonly StoreItem[];
  /** The text of the search. */
  text: string | undefined;
  onEdit: (item: StoreItem) => void;
  onDelete: (item: StoreItem) => void;
}

/** The items of a store, whose values can be opened. */
function ItemList({ items, text, onEdit, onDelete }: ItemListProps) {
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
              <summary class="row">
                <span class="fold mono tag">
                  <Untrusted text={item.key} longest={200} />
                </span>
                <span class="muted">
                  <Untrusted text={item.namespace.join(' / ')} longest={200} />
                </span>
                {item.updated_at != null && (
                  <span class="muted end">
                    <TimeAgo at={item.updated_at} />
                  </span>
                )}
              </summary>
              <div class="stack store-value">
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
