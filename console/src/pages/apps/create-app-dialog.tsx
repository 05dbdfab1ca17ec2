import { useRef, useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { focusFirstFault, PasswordInput, TextInput } from '../../ui/fields.tsx'
import { Row } from '../../ui/layout.tsx'
import { Notice } from '../../ui/states.tsx'
import styles from './apps.module.css'
import { type OperatedApp, useAppDeeds } from './apps.queries.ts'

interface Faults {
  name?: string | undefined
  secret?: string | undefined
  token?: string | undefined
  graph?: string | undefined
  form?: string | undefined
}

export function CreateAppDialog({ onClose, onMade }: { onClose: () => void; onMade: (app: OperatedApp) => void }) {
  const { createApp } = useAppDeeds()
  const body = useRef<HTMLDivElement>(null)
  const [name, setName] = useState('')
  const [secret, setSecret] = useState('')
  const [token, setToken] = useState(newToken)
  const [graph, setGraph] = useState('')
  const [busy, setBusy] = useState(false)
  const [faults, setFaults] = useState<Faults>({})
  const refuse = (found: Faults) => {
    setBusy(false)
    setFaults(found)
    focusFirstFault(body.current)
  }
  const submit = async () => {
    if (busy) return
    const missing: Faults = {
      name: name.trim() ? undefined : 'Enter a name.',
      secret: secret.trim() ? undefined : 'Enter the app secret.',
      token: token.trim() ? undefined : 'Enter a verify token.',
    }
    if (missing.name || missing.secret || missing.token) return refuse(missing)
    setBusy(true)
    setFaults({})
    try {
      onMade(
        await createApp({
          name: name.trim(),
          app_secret: secret.trim(),
          verify_token: token.trim(),
          ...(graph.trim() ? { graph_url: graph.trim() } : {}),
        }),
      )
    } catch (error) {
      if (!(error instanceof ApiError)) return refuse({ form: wordsOf(error) })
      const named = {
        name: error.faultOf('name'),
        secret: error.faultOf('app_secret'),
        token: error.faultOf('verify_token'),
        graph: error.faultOf('graph_url'),
      }
      refuse(Object.values(named).some(Boolean) ? named : { form: error.message })
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title="Add an app"
      detail="As it is at developers.facebook.com. Secrets are sealed at once and never shown again."
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy}>
            Add app
          </Button>
        </>
      }
    >
      <div ref={body} className={styles.form}>
        <TextInput
          label="Name"
          description="For you; Meta does not see it."
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={faults.name}
          data-autofocus
        />
        <PasswordInput
          label="App secret"
          description="App settings → Basic. With it the network’s webhooks are checked."
          autoComplete="off"
          value={secret}
          onChange={(event) => setSecret(event.currentTarget.value)}
          error={faults.secret}
        />
        <Row align="flex-end" wrap={false}>
          <TextInput
            className={styles.grow}
            label="Verify token"
            description="Any text; you paste the same one at Meta. Copy it now."
            autoComplete="off"
            spellCheck={false}
            value={token}
            onChange={(event) => setToken(event.currentTarget.value)}
            error={faults.token}
            classNames={{ input: 'mono' }}
          />
          <Button icon="copy" onClick={() => void navigator.clipboard?.writeText(token)}>
            Copy
          </Button>
        </Row>
        <TextInput
          label="Graph API"
          description="Leave empty for Meta’s own."
          placeholder="https://graph.facebook.com"
          autoComplete="off"
          spellCheck={false}
          value={graph}
          onChange={(event) => setGraph(event.currentTarget.value)}
          error={faults.graph}
        />
        <div role="alert">{faults.form && <Notice tone="bad">{faults.form}</Notice>}</div>
      </div>
    </Dialog>
  )
}

const newToken = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
