import { Page } from '../../parts/page.tsx';

export function Deployments() {
  return <Page title="Deployments">To be written.</Page>;
}
