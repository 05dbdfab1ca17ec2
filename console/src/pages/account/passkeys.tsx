import type { PasskeyRow } from '@parley/contract/console/session'
import { useState } from 'react'
import { errorMessage } from '../../lib/api.ts'
import { deviceOf } from '../../lib/device.ts'
import { useLast } from '../../lib/last.ts'
import { passkeyObstacle } from '../../lib/passkey.ts'
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
  const lastRemoved = useLast(removed)
  const obstacle = passkeyObstacle(public_url)
  return (
    <Section
      title="Passkeys"
      detail="Sign in with your fingerprint, face or device PIN. A passkey replaces password and code, and resists phishing."
    >
      <Loaded query={usePasskeys()} what="Your passkeys" lines={2}>
        {({ data }) =>
          data.length > 0 ? (
            <PasskeyList passkeys={data} onRemove={setRemoved} />
          ) : (
            !obstacle && <p className="quiet">No passkeys yet.</p>
          )
        }
      </Loaded>
      {obstacle ? (
        <Notice>
          {obstacle.reason} {obstacle.url && <a href={`${obstacle.url}/account`}>{obstacle.url}</a>}
        </Notice>
      ) : (
        <div className={styles.buttons}>
          <Button icon="plus" onClick={() => setAdding(true)}>
            Add passkey
          </Button>
        </div>
      )}
      {isAdding && <AddPasskey onClose={() => setAdding(false)} />}
      <ConfirmDialog
        open={removed !== null}
        onClose={() => setRemoved(null)}
        title="Remove this passkey?"
        confirm="Remove passkey"
        action={useRemovePasskey()}
        input={removed?.id}
      >
        You can no longer sign in with <bdi>{lastRemoved?.name}</bdi>. Delete it in your device’s password settings too,
        so your browser stops offering it.
      </ConfirmDialog>
    </Section>
  )
}

function AddPasskey({ onClose }: { onClose: () => void }) {
  const form = useForm({
    first: { name: deviceOf(navigator.userAgent) },
    check: ({ name }) => ({ name: name.trim() ? undefined : 'Enter a name.' }),
    action: useAddPasskey(),
    input: ({ name }) => name.trim(),
    onDone: onClose,
    explain: (error) => ({ form: passkeyError(error) }),
  })
  return (
    <FormDialog
      onClose={onClose}
      size="s"
      title="Add passkey"
      detail="Your browser asks where to save it: on this device, on your phone or on a security key."
      form={form}
      submit="Continue"
    >
      <TextInput label="Name" description="Helps you recognize it later." {...form.text('name')} data-autofocus />
    </FormDialog>
  )
}

function passkeyError(error: unknown): string {
  const name = error instanceof Error ? error.name : ''
  if (name === 'InvalidStateError') return 'This device already has a passkey for your account.'
  if (name === 'NotAllowedError' || name === 'AbortError')
    return 'No passkey was added: the request was cancelled or timed out. Try again.'
  return errorMessage(error)
}
