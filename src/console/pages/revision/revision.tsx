import { Page } from '../../parts/page.tsx';

export default function Revision() {
  return <Page title="Revision">To be written.</Page>;
}
