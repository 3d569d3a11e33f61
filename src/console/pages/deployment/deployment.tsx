import { Page } from '../../parts/page.tsx';

export default function Deployment() {
  return <Page title="Deployment">To be written.</Page>;
}
