import { ControlError, control, type Phone } from './api.ts'
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

export async function changePhone(settings: object): Promise<void> {
  const phone = await withErrorToast(() => control.changePhone(state.me, settings))
  if (phone) setPhone(phone)
}

/** Stores a phone that was added or changed, here or elsewhere. If it is back online, its drafts are sent. */
export function setPhone(phone: Phone): void {
  const index = state.people.findIndex(({ waId }) => waId === phone.waId)
  const before = state.people[index]
  if (before) state.people[index] = phone
  else state.people.push(phone)
  changed('people')
  if (phone.waId === state.me) changed('chat')
  if (before?.online === false) void sendDrafts(phone)
}

const sending = new Set<string>()

/** Sends the drafts of a phone that is online. Those that fail are kept until it is back online the next time. */
export async function sendDrafts({ waId, online }: Phone): Promise<void> {
  if (!online || sending.has(waId)) return
  sending.add(waId)
  for (const draft of state.drafts.get(waId) ?? []) {
    if (!(await withErrorToast(() => control.act(waId, draft.action, draft.input)))) continue
    state.drafts.set(waId, state.drafts.get(waId)?.filter((each) => each !== draft) ?? [])
    changed('chat')
  }
  sending.delete(waId)
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
