import { Page } from '../../parts/page.tsx';

export default function NewDeployment() {
  return <Page title="NewDeployment">To be written.</Page>;
}
