import { useState } from 'react'
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

export function AppsPage() {
  const apps = useApps()
  const [asks, setAsks] = useState<'app' | 'connection' | null>(null)
  const [shown, setShown] = useState<OperatedApp | null>(null)
  const hasApps = (apps.rows?.length ?? 0) > 0
  return (
    <>
      <PageHeader
        title="Apps and connections"
        detail="Apps at Meta, and the WhatsApp Business accounts that workspaces use."
        actions={
          <>
            <Button icon="plus" onClick={() => setAsks('app')}>
              Add app
            </Button>
            {hasApps && (
              <Button kind="primary" icon="plug" onClick={() => setAsks('connection')}>
                Connect account
              </Button>
            )}
          </>
        }
      />
      <PageBody>
        <section className={styles.part}>
          <h2 className={styles.heading}>Apps</h2>
          <AppTable onCreate={() => setAsks('app')} onShow={setShown} />
        </section>
        <section className={styles.part}>
          <h2 className={styles.heading}>Connections</h2>
          <ConnectionTable {...(hasApps ? { onConnect: () => setAsks('connection') } : {})} />
        </section>
      </PageBody>
      {asks === 'app' && (
        <CreateAppDialog
          onClose={() => setAsks(null)}
          onMade={(app) => {
            setAsks(null)
            setShown(app)
          }}
        />
      )}
      {asks === 'connection' && <ConnectDialog onClose={() => setAsks(null)} />}
      <CallbackDialog app={shown} onClose={() => setShown(null)} />
    </>
  )
}
