import { DeploymentPage } from '../../parts/deployment-page.tsx';
import { SettingsForm } from './settings-form.tsx';

/** The settings of a deployment. */
export default function Settings({ deploymentId }: { deploymentId: string }) {
  return (
    <DeploymentPage deploymentId={deploymentId} current="Settings">
      {(deployment, reload) =>
        deployment.status === 'AWAITING_DELETE' ? (
          <div class="notice" role="status">
            <p>This deployment is being deleted. Its settings can no longer be changed.</p>
          </div>
        ) : (
          <SettingsForm key={deployment.id} current={deployment} reload={reload} />
        )
      }
    </DeploymentPage>
  );
}
