import { paths } from '../paths.ts';
import { Page } from '../parts/page.tsx';

export function NotFound() {
  return (
    <Page title="There is no such page">
      <p>
        Check the address, or go to the <a href={paths.home}>deployments</a>.
      </p>
    </Page>
  );
}
