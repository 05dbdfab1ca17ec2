import { useState } from 'react'
import { useSearchParams } from '../../lib/url.ts'
import { Button } from '../../ui/button.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { AppTable } from './app-table.tsx'
import styles from './apps.module.css'
import { type OperatedApp, useApps } from './apps.queries.ts'
import { CallbackDialog } from './callback-dialog.tsx'
import { ConnectDialog } from './connect-dialog.tsx'
import { ConnectionTable } from './connection-table.tsx'
import { CreateAppDialog } from './create-app-dialog.tsx'
import { SetupDialog } from './setup-dialog.tsx'

export function AppsPage() {
  const apps = useApps()
  const [dialog, setDialog] = useState<'setup' | 'app' | 'connection' | null>(null)
  const [{ connect: account = null, app = null, workspace = null }, changeParams] = useSearchParams()
  const [setupApp, setSetupApp] = useState<OperatedApp | null>(null)
  const hasApps = (apps.rows?.length ?? 0) > 0
  return (
    <>
      <PageHeader
        title="Apps and connections"
        detail="Meta apps, and the WhatsApp Business accounts connected to workspaces."
        actions={
          <>
            <Button icon="plus" onClick={() => setDialog('app')}>
              Add app
            </Button>
            {(hasApps || apps.isLoading) && (
              <Button icon="link" disabled={!hasApps} onClick={() => setDialog('connection')}>
                Connect account
              </Button>
            )}
            <Button kind="primary" icon="plug" onClick={() => setDialog('setup')}>
              Connect WhatsApp
            </Button>
          </>
        }
      />
      <PageBody>
        <section className={styles.part}>
          <h2 className={styles.heading}>Apps</h2>
          <AppTable onCreate={() => setDialog('setup')} onShowSetup={setSetupApp} />
        </section>
        <section className={styles.part}>
          <h2 className={styles.heading}>Connections</h2>
          <ConnectionTable {...(hasApps ? { onConnect: () => setDialog('connection') } : {})} />
        </section>
      </PageBody>
      {(dialog === 'setup' || (workspace !== null && apps.rows?.length === 0)) && (
        <SetupDialog
          workspace={workspace}
          onClose={() => {
            setDialog(null)
            changeParams({ workspace: null })
          }}
        />
      )}
      {dialog === 'app' && (
        <CreateAppDialog
          onClose={() => setDialog(null)}
          onCreated={(app) => {
            setDialog(null)
            setSetupApp(app)
          }}
        />
      )}
      {(dialog === 'connection' || account !== null || workspace !== null) && hasApps && !setupApp && (
        <ConnectDialog
          account={account}
          app={app}
          workspace={workspace}
          onClose={() => {
            setDialog(null)
            changeParams({ connect: null, app: null, workspace: null })
          }}
        />
      )}
      <CallbackDialog app={setupApp} onClose={() => setSetupApp(null)} />
    </>
  )
}
