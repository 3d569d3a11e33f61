import { shownText } from '../../parts/untrusted.tsx';
import { toNamespaceTree } from './namespace-tree.ts';

interface NamespacesProps {
  namespaces: readonly (readonly string[])[];
  current: readonly string[];
  choose: (namespace: readonly string[]) => void;
}

/** The namespaces as a tree; the chosen one shows its items and those below it. */
export function Namespaces({ namespaces, current, choose }: NamespacesProps) {
  const currentKey = JSON.stringify(current);
  const rows = [{ namespace: [], label: 'All namespaces', depth: -1 }, ...toNamespaceTree(namespaces)];
  return (
    <nav aria-label="Namespaces" class="store-namespaces">
      <ul>
        {rows.map(({ namespace, label, depth }) => {
          const key = JSON.stringify(namespace);
          return (
            <li key={key}>
              <button
                type="button"
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
