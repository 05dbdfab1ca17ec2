import type { Browser } from './console.ts'

/** An event stream, as the console opens it, with its text so far. */
export interface LiveStream {
  status: number
  text: string
  ended: boolean
  close(): void
}

export async function watchLive(url: string, { cookies }: Browser, workspaceId: string): Promise<LiveStream> {
  const stopping = new AbortController()
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const response = await fetch(`${url}/console/api/w/${workspaceId}/live`, {
    headers: { cookie },
    signal: stopping.signal,
  })
  const stream = { status: response.status, text: '', ended: false, close: () => stopping.abort() }
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  void (async () => {
    for (;;) {
      const { value, done } = (await reader?.read().catch(() => undefined)) ?? { done: true, value: undefined }
      stream.text += value ?? ''
      if (done) break
    }
    stream.ended = true
  })()
  return stream
}
