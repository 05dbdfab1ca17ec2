import { control, Refused } from './api.ts'
import { changed, me, state } from './state.ts'
import { toast } from './toast.ts'

/** Does something on the phone, and says whether that worked. Without a connection it waits, with its words shown. */
export async function act(action: string, input: object, words: string): Promise<boolean> {
  const { me: waId, to: numberId } = state
  if (me()?.online === false) {
    const draft = { action, input, words, at: new Date().toISOString(), numberId }
    state.drafts.set(waId, [...(state.drafts.get(waId) ?? []), draft])
    changed('chat')
    return true
  }
  return (await attempt(() => control.act(waId, action, input))) !== undefined
}

/** Writes in the open chat; a message being answered is quoted. */
export async function write(action: string, input: object, words: string): Promise<boolean> {
  const quoted = state.replyTo ? { replyTo: state.replyTo } : {}
  state.replyTo = null
  changed('reply')
  return act(action, { to: state.to, ...quoted, ...input }, words)
}

export async function setOnline(online: boolean): Promise<void> {
  const waId = state.me
  await change({ online })
  if (!online) return
  const drafts = state.drafts.get(waId) ?? []
  state.drafts.delete(waId)
  changed('chat')
  for (const { action, input } of drafts) await attempt(() => control.act(waId, action, input))
}

export async function change(settings: object): Promise<void> {
  const waId = state.me
  const phone = await attempt(() => control.changePhone(waId, settings))
  const known = state.people.find((person) => person.waId === waId)
  if (phone && known) Object.assign(known, phone)
}

/** Tries, and says what went wrong where it can be seen. */
export async function attempt<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    toast(error.message)
    return undefined
  }
}
