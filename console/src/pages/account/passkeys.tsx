import type { PasskeyRow } from '@parley/contract/console/session'
import { browserSupportsWebAuthn } from '@simplewebauthn/browser'
import { useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { deviceOf } from '../../lib/device.ts'
import { useLast } from '../../lib/last.ts'
import { useSession } from '../../lib/session.ts'
import { PasskeyList } from '../../parts/passkey-list.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { TextInput } from '../../ui/fields.tsx'
import { Section } from '../../ui/layout.tsx'
import { FailedState, LoadingLines, Notice } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import styles from './account.module.css'
import { addPasskey, removePasskey, usePasskeys, useRenewAccount } from './account.queries.ts'

export function PasskeysSection() {
  const { public_url } = useSession()
  const { data, error, refetch } = usePasskeys()
  const renew = useRenewAccount()
  const [isAdding, setAdding] = useState(false)
  const [removed, setRemoved] = useState<PasskeyRow | null>(null)
  const gone = useLast(removed)
  const obstacle = obstacleTo(public_url)
  return (
    <Section
      title="Passkeys"
      detail="Sign in with your fingerprint, face or device PIN. A passkey is both factors in one and cannot be phished."
    >
      {error && <FailedState what="Your passkeys could not be loaded" error={error} onRetry={() => void refetch()} />}
      {!data && !error && <LoadingLines lines={2} />}
      {data && data.data.length > 0 && <PasskeyList passkeys={data.data} onRemove={setRemoved} />}
      {data?.data.length === 0 && !obstacle && <p className="quiet">You have none yet.</p>}
      {obstacle ? (
        <Notice>{obstacle}</Notice>
      ) : (
        <div className={styles.buttons}>
          <Button icon="plus" onClick={() => setAdding(true)}>
            Add a passkey
          </Button>
        </div>
      )}
      {isAdding && (
        <AddPasskey
          onClose={() => setAdding(false)}
          onAdded={() => {
            setAdding(false)
            toast.done('Passkey added')
            void renew()
          }}
        />
      )}
      <ConfirmDialog
        open={removed !== null}
        onClose={() => setRemoved(null)}
        title="Remove this passkey?"
        confirm="Remove it"
        onConfirm={async () => {
          if (removed) await removePasskey(removed.id)
          await renew()
          toast.done('Passkey removed')
        }}
      >
        <bdi>{gone?.name}</bdi> will no longer sign you in. Delete it in your device’s password settings too, so that it
        is not offered any more.
      </ConfirmDialog>
    </Section>
  )
}

function AddPasskey({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const [name, setName] = useState(deviceOf(navigator.userAgent))
  const [state, setState] = useState<{ busy: boolean; fault: string | null }>({ busy: false, fault: null })
  const submit = async () => {
    if (state.busy) return
    if (!name.trim()) return setState({ busy: false, fault: 'Give it a name.' })
    setState({ busy: true, fault: null })
    try {
      await addPasskey(name.trim())
      onAdded()
    } catch (error) {
      setState({ busy: false, fault: faultWords(error) })
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      size="s"
      title="Add a passkey"
      detail="Your browser then asks where to keep it: on this device, on your phone, or on a security key."
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={state.busy}>
            Go on
          </Button>
        </>
      }
    >
      <TextInput
        label="Name"
        description="So that you can tell it from others later."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={state.fault}
        data-autofocus
      />
    </Dialog>
  )
}

/** Why no passkey can be made here, or null. */
function obstacleTo(publicUrl: string): string | null {
  const { hostname } = new URL(publicUrl)
  if (/^[\d.]+$|^\[/.test(hostname))
    return `Passkeys belong to a host name, and this console is at ${hostname}. Whoever runs it can set PUBLIC_URL to an address with a name, such as http://localhost:8080.`
  if (location.origin !== new URL(publicUrl).origin) return `Open the console at ${publicUrl} to add a passkey.`
  if (!window.isSecureContext) return 'Passkeys need https. Whoever runs this console can set it up.'
  if (!browserSupportsWebAuthn()) return 'This browser knows no passkeys. A newer one, or one on another device, may.'
  return null
}

function faultWords(error: unknown): string {
  if (error instanceof ApiError) return error.message
  const name = error instanceof Error ? error.name : ''
  if (name === 'InvalidStateError') return 'This device holds a passkey for your account already.'
  if (name === 'NotAllowedError' || name === 'AbortError')
    return 'No passkey was made: it was cancelled, or took too long. Try again.'
  return wordsOf(error)
}
