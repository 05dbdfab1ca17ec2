/** Splits a stream of PostgreSQL's protocol into messages: type and body. `isStarted` if the startup message has passed. */
function newMessages(onMessage: (type: string, body: Buffer) => void, isStarted: boolean): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const head = isStarted ? 1 : 0
      if (rest.length < head + 4) return
      const end = head + rest.readInt32BE(head)
      if (rest.length < end) return
      onMessage(isStarted ? String.fromCharCode(rest[0] as number) : 'startup', rest.subarray(head + 4, end))
      isStarted = true
      rest = rest.subarray(end)
    }
  }
}

/** Watches one connection for the commit of a transaction that contains a given statement. */
export interface CommitWatch {
  /** What the client sends. */
  sent(chunk: Buffer): void
  /** What PostgreSQL responds. Returns false from the moment on at which the commit was sent. */
  received(chunk: Buffer): boolean
}

/** `onCommitted` is called when PostgreSQL has confirmed the commit; the client does not know it yet. */
export function newCommitWatch(pattern: () => RegExp | null, onCommitted: () => void): CommitWatch {
  const prepared = new Map<string, string>()
  let isInTransaction = false
  let hasStatement = false
  /** Responses that PostgreSQL still has to end. */
  let pending = 1
  let isCommitSent = false
  const run = (text: string) => {
    if (/^begin/i.test(text)) isInTransaction = true
    if (pattern()?.test(text)) hasStatement = true
  }
  const ended = () => {
    if (hasStatement && !isInTransaction) isCommitSent = true
  }
  const textsOf = (body: Buffer) => body.toString('latin1').split('\0')
  const sent = newMessages((type, body) => {
    if (type === 'P') {
      const [name = '', text = ''] = textsOf(body)
      prepared.set(name, text)
    } else if (type === 'B') run(prepared.get(textsOf(body)[1] ?? '') ?? '')
    else if (type === 'S') {
      pending++
      ended()
      // The rows of a COPY end with this.
    } else if (type === 'c') ended()
    else if (type === 'Q') {
      pending++
      const [text = ''] = textsOf(body)
      run(text)
      if (/^(commit|rollback)/i.test(text)) {
        isInTransaction = false
        if (/^rollback/i.test(text)) hasStatement = false
      }
      if (!/^copy/i.test(text)) ended()
    }
  }, false)
  const received = newMessages((type) => {
    if (type !== 'Z') return
    pending--
    if (isCommitSent && pending === 0) onCommitted()
  }, true)
  return {
    sent,
    received(chunk) {
      received(chunk)
      return !isCommitSent
    },
  }
}
