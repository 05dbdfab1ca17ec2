import type { ConsoleKey, MadeKey } from '@parley/contract/console/keys'
import { useRef, useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { focusFirstFault } from '../../ui/fields.tsx'
import { Notice } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { KeyFields } from './key-fields.tsx'
import { draftOf, emptyDraft, faultsFrom, faultsOf, type KeyDraft, type KeyFaults, toWish } from './key-form.ts'
import { useKeyDeeds } from './keys.queries.ts'
import { rangeFault } from './ranges.ts'

/** Makes a key. */
export function CreateKeyDialog({ onClose, onMade }: { onClose: () => void; onMade: (made: MadeKey) => void }) {
  const { create } = useKeyDeeds()
  return (
    <KeyDialog
      title="Create key"
      deed="Create key"
      first={emptyDraft}
      onClose={onClose}
      save={async (draft) => onMade(await create(toWish(draft)))}
    />
  )
}

/** Changes the rules of a key. They count from its next request on. What `adding` names is filled in already. */
export function EditKeyDialog({
  apiKey,
  adding = {},
  onClose,
}: {
  apiKey: ConsoleKey
  adding?: { range?: string; scope?: string }
  onClose: () => void
}) {
  const { change } = useKeyDeeds()
  return (
    <KeyDialog
      title="Edit key"
      detail="Changes count from the next request on."
      deed="Save changes"
      first={withAdded(draftOf(apiKey), adding)}
      expiresAt={apiKey.expires_at}
      onClose={onClose}
      save={async (draft) => {
        const { warnings } = await change(apiKey.id, toWish(draft))
        onClose()
        toast.done('Key changed')
        for (const warning of warnings) toast.note(warning)
      }}
    />
  )
}

function withAdded(draft: KeyDraft, { range, scope }: { range?: string; scope?: string }): KeyDraft {
  return {
    ...draft,
    ranges: range && !rangeFault(range) ? [...new Set([...draft.ranges, range])] : draft.ranges,
    scopes: scope ? [...new Set([...draft.scopes, scope])] : draft.scopes,
  }
}

interface KeyDialogProps {
  title: string
  detail?: string
  deed: string
  first: KeyDraft
  expiresAt?: string | null
  onClose: () => void
  save: (draft: KeyDraft) => Promise<void>
}

function KeyDialog({ title, detail, deed, first, expiresAt = null, onClose, save }: KeyDialogProps) {
  const [draft, setDraft] = useState(first)
  const [faults, setFaults] = useState<KeyFaults>({})
  const [busy, setBusy] = useState(false)
  const fields = useRef<HTMLDivElement>(null)
  const refuse = (next: KeyFaults) => {
    setFaults(next)
    setBusy(false)
    focusFirstFault(fields.current)
  }
  const submit = async () => {
    const own = faultsOf(draft)
    if (Object.keys(own).length > 0) return refuse(own)
    setBusy(true)
    setFaults({})
    try {
      await save(draft)
    } catch (error) {
      const named = error instanceof ApiError ? faultsFrom(error) : {}
      refuse(Object.values(named).some(Boolean) ? named : { form: wordsOf(error) })
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      detail={detail}
      size="m"
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy}>
            {deed}
          </Button>
        </>
      }
    >
      <div ref={fields}>
        {faults.form && (
          <div role="alert">
            <Notice tone="bad">{faults.form}</Notice>
          </div>
        )}
        <KeyFields draft={draft} faults={faults} onChange={setDraft} expiresAt={expiresAt} />
      </div>
    </Dialog>
  )
}
