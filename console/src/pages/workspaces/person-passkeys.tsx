import type { PasskeyRow } from '@parley/contract/console/session'
import { useState } from 'react'
import { useLast } from '../../lib/last.ts'
import { PasskeyList } from '../../parts/passkey-list.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { type OperatedPerson, useRemovePasskey } from './workspaces.queries.ts'

/** A person's passkeys, for an operator: which there are, and a way to remove one that is not theirs. */
export function PersonPasskeys({ person, onClose }: { person: OperatedPerson | null; onClose: () => void }) {
  const [chosen, setChosen] = useState<PasskeyRow | null>(null)
  const [shown, removed] = [useLast(person), useLast(chosen)]
  return (
    <>
      <Dialog
        open={person !== null}
        onClose={onClose}
        title="Passkeys"
        detail={<bdi>{shown?.email}</bdi>}
        actions={<Button onClick={onClose}>Close</Button>}
      >
        {shown?.passkeys.length ? (
          <PasskeyList passkeys={shown.passkeys} onRemove={setChosen} />
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
        <bdi>{removed?.name}</bdi> no longer signs <bdi>{shown?.email}</bdi> in. Their open sessions continue. If
        somebody else may have added it, create a link for a new password: following it removes all passkeys and signs
        out every device.
      </ConfirmDialog>
    </>
  )
}
