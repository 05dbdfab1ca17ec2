import type { PasskeyRow } from '@parley/contract/console/session'
import { useState } from 'react'
import { useLast } from '../../lib/last.ts'
import { PasskeyList } from '../../parts/passkey-list.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { type OperatedPerson, useRemovePasskey } from './workspaces.queries.ts'

/** Lets an operator view a person's passkeys and remove one. */
export function PersonPasskeys({ person, onClose }: { person: OperatedPerson | null; onClose: () => void }) {
  const [chosen, setChosen] = useState<PasskeyRow | null>(null)
  const [lastPerson, removed] = [useLast(person), useLast(chosen)]
  return (
    <>
      <Dialog
        open={person !== null}
        onClose={onClose}
        title="Passkeys"
        detail={<bdi>{lastPerson?.email}</bdi>}
        actions={<Button onClick={onClose}>Close</Button>}
      >
        {lastPerson?.passkeys.length ? (
          <PasskeyList passkeys={lastPerson.passkeys} onRemove={setChosen} />
        ) : (
          <p className="quiet">No passkeys.</p>
        )}
      </Dialog>
      <ConfirmDialog
        open={chosen !== null}
        onClose={() => setChosen(null)}
        title="Remove this passkey?"
        confirm="Remove passkey"
        action={useRemovePasskey(person)}
        input={chosen?.id}
      >
        <bdi>{lastPerson?.email}</bdi> can no longer sign in with <bdi>{removed?.name}</bdi>. Open sessions stay signed
        in. If someone else may have added it, create a password reset link instead: using it removes all passkeys and
        signs out every device.
      </ConfirmDialog>
    </>
  )
}
