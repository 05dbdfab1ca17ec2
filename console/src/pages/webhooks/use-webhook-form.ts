import { useRef, useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { focusFirstFault } from '../../ui/fields.tsx'
import { faultsFrom, faultsOf, type WebhookDraft, type WebhookFaults } from './webhook-fields.tsx'

/** The state of a form of an endpoint: what it holds, what is wrong with it, and handing it in. */
export function useWebhookForm(first: WebhookDraft, save: (draft: WebhookDraft) => Promise<void>) {
  const [draft, setDraft] = useState(first)
  const [faults, setFaults] = useState<WebhookFaults>({})
  const [busy, setBusy] = useState(false)
  const fields = useRef<HTMLDivElement>(null)
  const refuse = (next: WebhookFaults) => {
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
      await save({ ...draft, name: draft.name.trim(), url: draft.url.trim() })
      setBusy(false)
    } catch (error) {
      const named = error instanceof ApiError ? faultsFrom(error) : {}
      refuse(Object.values(named).some(Boolean) ? named : { form: wordsOf(error) })
    }
  }
  return { draft, setDraft, faults, busy, fields, submit }
}
