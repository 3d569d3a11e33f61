import { Page } from '../../parts/page.tsx';

export default function Workspace() {
  return <Page title="Workspace">To be written.</Page>;
}
