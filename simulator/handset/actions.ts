import { ControlError, control } from './api.ts'
import { changed, me, state } from './state.ts'
import { toast } from './toast.ts'

/** Runs a phone action and returns whether it succeeded. While offline, it becomes a draft that shows `label`. */
export async function performAction(action: string, input: object, label: string): Promise<boolean> {
  const { me: waId, to: numberId } = state
  if (me()?.online === false) {
    const draft = { action, input, label, at: new Date().toISOString(), numberId }
    state.drafts.set(waId, [...(state.drafts.get(waId) ?? []), draft])
    changed('chat')
    return true
  }
  return (await withErrorToast(() => control.act(waId, action, input))) !== undefined
}

/** Does what the business of the open chat does outside the API, and returns whether it succeeded. */
export async function performBusinessAction(action: string, input: object): Promise<boolean> {
  return (await withErrorToast(() => control.business(state.to, action, input))) !== undefined
}

/** Sends a message in the open chat, quoting the message being replied to. */
export async function sendMessage(action: string, input: object, label: string): Promise<boolean> {
  const quoted = state.replyTo ? { replyTo: state.replyTo } : {}
  state.replyTo = null
  changed('reply')
  return performAction(action, { to: state.to, ...quoted, ...input }, label)
}

export async function setOnline(online: boolean): Promise<void> {
  const waId = state.me
  await changePhone({ online })
  if (!online) return
  const drafts = state.drafts.get(waId) ?? []
  state.drafts.delete(waId)
  changed('chat')
  for (const { action, input } of drafts) await withErrorToast(() => control.act(waId, action, input))
}

export async function changePhone(settings: object): Promise<void> {
  const waId = state.me
  const phone = await withErrorToast(() => control.changePhone(waId, settings))
  const known = state.people.find((person) => person.waId === waId)
  if (phone && known) Object.assign(known, phone)
}

/** Runs the function and shows a control API error as a toast. */
export async function withErrorToast<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof ControlError)) throw error
    toast(error.message)
    return undefined
  }
}
