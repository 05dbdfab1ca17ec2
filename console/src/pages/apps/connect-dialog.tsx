import { useRef, useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { focusFirstFault, PasswordInput, Select, TextInput } from '../../ui/fields.tsx'
import { Notice } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import styles from './apps.module.css'
import { useAppDeeds, useApps, useWorkspaceNames } from './apps.queries.ts'
import { remedyFor } from './remedy.ts'

interface Faults {
  workspace?: string | undefined
  app?: string | undefined
  waba?: string | undefined
  token?: string | undefined
  form?: string | undefined
}

export function ConnectDialog({ onClose }: { onClose: () => void }) {
  const { connect } = useAppDeeds()
  const apps = useApps().rows ?? []
  const workspaces = useWorkspaceNames().rows ?? []
  const body = useRef<HTMLDivElement>(null)
  const [workspace, setWorkspace] = useState<string | null>(
    workspaces.length === 1 ? (workspaces[0]?.id ?? null) : null,
  )
  const [app, setApp] = useState<string | null>(apps.length === 1 ? (apps[0]?.id ?? null) : null)
  const [waba, setWaba] = useState('')
  const [token, setToken] = useState('')
  const [busy, setBusy] = useState(false)
  const [faults, setFaults] = useState<Faults>({})
  const refuse = (found: Faults) => {
    setBusy(false)
    setFaults(found)
    focusFirstFault(body.current)
  }
  const submit = async () => {
    if (busy) return
    if (!workspace || !app || !/^\d+$/.test(waba.trim()) || !token.trim())
      return refuse({
        workspace: workspace ? undefined : 'Choose a workspace.',
        app: app ? undefined : 'Choose an app.',
        waba: /^\d+$/.test(waba.trim()) ? undefined : 'The id is a number, such as 102290129340398.',
        token: token.trim() ? undefined : 'Enter an access token.',
      })
    setBusy(true)
    setFaults({})
    try {
      const wish = { workspace_id: workspace, app_id: app, waba_id: waba.trim(), access_token: token.trim() }
      const { sync } = await connect(wish)
      if (sync.ok) toast.done(`Account ${waba.trim()} is connected`)
      else toast.failed(`Connected, but not synchronised: ${sync.why} ${remedyFor(sync.why ?? '')}`)
      onClose()
    } catch (error) {
      if (!(error instanceof ApiError)) return refuse({ form: wordsOf(error) })
      const named = {
        workspace: error.faultOf('workspace_id'),
        app: error.faultOf('app_id'),
        waba: error.faultOf('waba_id'),
        token: error.faultOf('access_token'),
      }
      refuse(Object.values(named).some(Boolean) ? named : { form: `${error.message} ${remedyFor(error.message)}` })
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title="Connect an account"
      detail="Its numbers and templates are fetched at once, and kept current from then on."
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy}>
            Connect
          </Button>
        </>
      }
    >
      <div ref={body} className={styles.form}>
        <Select
          label="Workspace"
          placeholder="Choose one"
          data={workspaces.map(({ id, name }) => ({ value: id, label: name }))}
          value={workspace}
          onChange={setWorkspace}
          error={faults.workspace}
          searchable={workspaces.length > 8}
          allowDeselect={false}
        />
        <Select
          label="App"
          placeholder="Choose one"
          data={apps.map(({ id, name }) => ({ value: id, label: name }))}
          value={app}
          onChange={setApp}
          error={faults.app}
          allowDeselect={false}
        />
        <TextInput
          label="WhatsApp Business account id"
          description="WhatsApp Manager → Account tools, or Business settings → WhatsApp accounts."
          inputMode="numeric"
          autoComplete="off"
          value={waba}
          onChange={(event) => setWaba(event.currentTarget.value)}
          error={faults.waba}
          classNames={{ input: 'mono' }}
        />
        <PasswordInput
          label="Access token"
          description="Of a system user, without an end, with whatsapp_business_management and whatsapp_business_messaging."
          autoComplete="off"
          value={token}
          onChange={(event) => setToken(event.currentTarget.value)}
          error={faults.token}
        />
        <div role="alert">{faults.form && <Notice tone="bad">{faults.form}</Notice>}</div>
      </div>
    </Dialog>
  )
}
