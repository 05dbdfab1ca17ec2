import { useHere } from '../../lib/session.ts'
import { CodeBlock, CodeTabs } from '../../ui/code-block.tsx'
import { PageLink } from '../../ui/link.tsx'
import styles from './docs.module.css'
import { useExampleWords } from './docs.queries.ts'

/** From nothing to a message and its events, with this installation's own address. */
export function Quickstart() {
  const here = useHere()
  const { publicUrl, keyHint } = useExampleWords()
  return (
    <div className={styles.text}>
      <p>
        The API is at <code>{publicUrl}/v1</code>. It speaks JSON, and every request carries a key. Five minutes from
        here you have sent a message and heard what became of it.
      </p>

      <h2>1. A key</h2>
      <p>
        An admin creates one under <PageLink to={here.path('keys')}>API keys</PageLink>; its secret is shown once.{' '}
        {keyHint ? (
          <>
            The newest key of this workspace is <code>{keyHint}</code>. Put its secret where your programs find it:
          </>
        ) : (
          'Put it where your programs find it:'
        )}
      </p>
      <CodeBlock
        language="shell"
        code={`export PARLEY_KEY='${keyHint ?? 'prl_live_…'}'  # the whole secret, not this hint`}
      />
      <p>Then ask who you are. The answer names the workspace, the key, its scopes and its budget.</p>
      <CodeBlock language="shell" code={`curl ${publicUrl}/v1/me -H "Authorization: Bearer $PARLEY_KEY"`} />

      <h2>2. A message</h2>
      <p>
        The number is in international form. Outside of the 24 hours after a person last wrote to you, the network takes
        templates only; <PageLink to={here.path('templates')}>Templates</PageLink> shows yours, each with a request to
        copy. The <code>Idempotency-Key</code> makes it safe to send the same request again when an answer is lost.
      </p>
      <CodeTabs label="Send a message" snippets={sending(publicUrl)} />
      <p>
        The answer is <code>202</code> with the message’s id: it is taken, paid for and on its way. What the network
        says of it comes as events, or by asking:
      </p>
      <CodeBlock language="shell" code={`curl ${publicUrl}/v1/messages/msg_… -H "Authorization: Bearer $PARLEY_KEY"`} />

      <h2>3. Events</h2>
      <p>
        Add an endpoint under <PageLink to={here.path('webhooks')}>Webhooks</PageLink> and{' '}
        <PageLink to={here.path('docs/webhooks')}>verify what it gets</PageLink>. Nothing public at hand? Deliveries are
        kept and tried again for about nine hours, and can be sent once more by hand from{' '}
        <PageLink to={here.path('deliveries')}>Deliveries</PageLink>.
      </p>

      <h2>Good to know</h2>
      <ul>
        <li>
          Every answer says what is left of the key’s budget: <code>RateLimit-Limit</code>,{' '}
          <code>RateLimit-Remaining</code>, <code>RateLimit-Reset</code>. After a <code>429</code> wait for the seconds
          in <code>Retry-After</code>.
        </li>
        <li>
          Every answer has an <code>X-Request-Id</code>. Put it into the search of the{' '}
          <PageLink to={here.path('requests')}>request log</PageLink>, or press the search key anywhere and paste it.
        </li>
        <li>
          An error has a <code>code</code> to branch on and a <code>message</code> to read.{' '}
          <PageLink to={here.path('docs/errors')}>All codes</PageLink>.
        </li>
        <li>Fields and event types may be added; ignore those you do not know.</li>
      </ul>
    </div>
  )
}

const sending = (publicUrl: string) => [
  {
    title: 'curl',
    language: 'shell' as const,
    code: `curl ${publicUrl}/v1/messages \\
  -H "Authorization: Bearer $PARLEY_KEY" \\
  -H "Content-Type: application/json" \\
  -H "Idempotency-Key: order-1001" \\
  -d '{"to": "491701234567", "type": "text", "text": {"body": "Your parcel is at the door."}}'`,
  },
  {
    title: 'TypeScript',
    language: 'js' as const,
    code: `import { newClient } from '@parley/sdk'

const parley = newClient({ baseUrl: '${publicUrl}', key: process.env.PARLEY_KEY! })

const message = await parley.messages.send({
  to: '491701234567',
  type: 'text',
  text: { body: 'Your parcel is at the door.' },
})
console.log(message.id, message.status)`,
  },
  {
    title: 'Python',
    language: 'python' as const,
    code: `import os
import requests

answer = requests.post(
    "${publicUrl}/v1/messages",
    headers={"Authorization": f"Bearer {os.environ['PARLEY_KEY']}", "Idempotency-Key": "order-1001"},
    json={"to": "491701234567", "type": "text", "text": {"body": "Your parcel is at the door."}},
    timeout=10,
)
answer.raise_for_status()
print(answer.json()["id"])`,
  },
]
