import { Page, NotFound } from '../../parts/page.tsx';
import { paths } from '../../paths.ts';
import { ApiKeys } from './api-keys.tsx';
import { AuditLog } from './audit-log.tsx';
import { Integrations } from './integrations.tsx';
import { Listeners } from './listeners.tsx';

const sections = [
  { id: 'keys', label: 'API keys', Content: ApiKeys },
  { id: 'integrations', label: 'Integrations', Content: Integrations },
  { id: 'listeners', label: 'Listeners', Content: Listeners },
  { id: 'audit', label: 'Audit log', Content: AuditLog },
] as const;

/** What belongs to the workspace rather than to one deployment. */
export default function Workspace({ section }: { section?: string }) {
  const found = section === undefined ? sections[0] : sections.find(({ id }) => id === section);
  if (!found) return <NotFound />;
  const { id: current, label, Content } = found;
  return (
    <Page
      title={`Workspace: ${label}`}
      summary={
        <nav aria-label="Workspace" class="tabs">
          {sections.map(({ id, label }) => (
            <a key={id} href={paths.workspace(id)} aria-current={id === current ? 'page' : undefined}>
              {label}
            </a>
          ))}
        </nav>
      }
    >
      <Content />
    </Page>
  );
}
