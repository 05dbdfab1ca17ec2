import type { PasskeyRow } from '@parley/contract/console/session'
import { browserSupportsWebAuthn } from '@simplewebauthn/browser'
import { useState } from 'react'
import { errorMessage } from '../../lib/api.ts'
import { deviceOf } from '../../lib/device.ts'
import { useLast } from '../../lib/last.ts'
import { useSession } from '../../lib/session.ts'
import { useForm } from '../../lib/use-form.ts'
import { PasskeyList } from '../../parts/passkey-list.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog, FormDialog } from '../../ui/dialog.tsx'
import { TextInput } from '../../ui/fields.tsx'
import { Section } from '../../ui/layout.tsx'
import { Loaded, Notice } from '../../ui/states.tsx'
import styles from './account.module.css'
import { useAddPasskey, usePasskeys, useRemovePasskey } from './account.queries.ts'

export function PasskeysSection() {
  const { public_url } = useSession()
  const [isAdding, setAdding] = useState(false)
  const [removed, setRemoved] = useState<PasskeyRow | null>(null)
  const gone = useLast(removed)
  const obstacle = obstacleTo(public_url)
  return (
    <Section
      title="Passkeys"
      detail="Sign in with your fingerprint, face or device PIN. A passkey is both factors in one and cannot be phished."
    >
      <Loaded query={usePasskeys()} what="Your passkeys" lines={2}>
        {({ data }) =>
          data.length > 0 ? (
            <PasskeyList passkeys={data} onRemove={setRemoved} />
          ) : (
            !obstacle && <p className="quiet">You have none yet.</p>
          )
        }
      </Loaded>
      {obstacle ? (
        <Notice>{obstacle}</Notice>
      ) : (
        <div className={styles.buttons}>
          <Button icon="plus" onClick={() => setAdding(true)}>
            Add a passkey
          </Button>
        </div>
      )}
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
      <ConfirmDialog
        open={removed !== null}
        onClose={() => setRemoved(null)}
        title="Remove this passkey?"
        confirm="Remove it"
        action={useRemovePasskey()}
        input={removed?.id}
      >
        <bdi>{gone?.name}</bdi> will no longer sign you in. Delete it in your device’s password settings too, so that it
        is not offered any more.
      </ConfirmDialog>
    </Section>
  )
}

function AddPasskey({ onClose }: { onClose: () => void }) {
  const form = useForm({
    first: { name: deviceOf(navigator.userAgent) },
    check: ({ name }) => ({ name: name.trim() ? undefined : 'Give it a name.' }),
    action: useAddPasskey(),
    input: ({ name }) => name.trim(),
    onDone: onClose,
    explain: (error) => ({ form: faultWords(error) }),
  })
  return (
    <FormDialog
      onClose={onClose}
      size="s"
      title="Add a passkey"
      detail="Your browser then asks where to keep it: on this device, on your phone, or on a security key."
      form={form}
      submit="Go on"
    >
      <TextInput
        label="Name"
        description="So that you can tell it from others later."
        {...form.text('name')}
        data-autofocus
      />
    </FormDialog>
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
  const name = error instanceof Error ? error.name : ''
  if (name === 'InvalidStateError') return 'This device holds a passkey for your account already.'
  if (name === 'NotAllowedError' || name === 'AbortError')
    return 'No passkey was made: it was cancelled, or took too long. Try again.'
  return errorMessage(error)
}
