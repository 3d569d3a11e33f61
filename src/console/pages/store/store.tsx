import { Page } from '../../parts/page.tsx';

export default function Store() {
  return <Page title="Store">To be written.</Page>;
}
